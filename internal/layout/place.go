package layout

// place computes the coordinates of the vertices. Each sweep moves a layer to the weighted means of
// its neighbours in the previous layer, by least squares within the order and the distances.
func (l *layers) place() {
	for _, row := range l.rows {
		x := 0.0
		for i, v := range row {
			if i > 0 {
				x += l.apart(row[i-1], v)
			}
			l.vertices[v].x = x
		}
	}
	passes := 30
	if len(l.vertices) > 5000 {
		passes = 6
	}
	up := func(v *vertex) []arc { return v.up }
	down := func(v *vertex) []arc { return v.down }
	for pass := range passes {
		for row := 1; row < len(l.rows); row++ {
			l.pull(row, up)
		}
		for row := len(l.rows) - 2; row >= 0; row-- {
			l.pull(row, down)
		}
		if pass == passes-1 {
			break
		}
		for row := range l.rows {
			l.pull(row, func(v *vertex) []arc {
				return append(append(make([]arc, 0, len(v.up)+len(v.down)), v.up...), v.down...)
			})
		}
	}
	l.placeRows(l.layerGap())
}

// apart returns the minimum distance of the centres of neighbours in a layer. Edges may be closer
// together than boxes.
func (l *layers) apart(a, b int) float64 {
	gap := l.o.NodeGap
	if !l.vertices[a].node && !l.vertices[b].node {
		gap /= 2
	}
	return (l.vertices[a].width+l.vertices[b].width)/2 + gap
}

// block is a run of vertices at their minimum distances. Its place is the mean of its members'
// preferred places, minus their offsets.
type block struct {
	place, weight float64
	n             int
}

// pull moves a layer to the weighted means of its neighbours, by isotonic regression (pool adjacent
// violators) with the distances between the vertices subtracted.
func (l *layers) pull(row int, neighbours func(*vertex) []arc) {
	vs := l.rows[row]
	blocks := make([]block, 0, len(vs))
	offset := 0.0
	for i, v := range vs {
		if i > 0 {
			offset += l.apart(vs[i-1], v)
		}
		x, weight := l.vertices[v].x, 0.01 // without neighbours: keep the place, with a low weight
		if arcs := neighbours(&l.vertices[v]); len(arcs) > 0 {
			var sum float64
			weight = 0
			for _, a := range arcs {
				sum += l.vertices[a.to].x * a.weight
				weight += a.weight
			}
			x = sum / weight
		}
		b := block{x - offset, weight, 1}
		for len(blocks) > 0 && blocks[len(blocks)-1].place > b.place {
			last := blocks[len(blocks)-1]
			blocks = blocks[:len(blocks)-1]
			b.place = (b.place*b.weight + last.place*last.weight) / (b.weight + last.weight)
			b.weight += last.weight
			b.n += last.n
		}
		blocks = append(blocks, b)
	}
	i, offset := 0, 0.0
	for _, b := range blocks {
		for range b.n {
			if i > 0 {
				offset += l.apart(vs[i-1], vs[i])
			}
			l.vertices[vs[i]].x = b.place + offset
			i++
		}
	}
}

// layerGap returns the gap between layers. It is larger in a wide graph, so that edges that go far
// to the side are not too flat.
func (l *layers) layerGap() float64 {
	if len(l.rows) < 2 {
		return l.o.LayerGap
	}
	left, right := 0.0, 0.0
	for _, v := range l.vertices {
		left, right = min(left, v.x), max(right, v.x)
	}
	const steepness = 1.0 / 5 // height divided by width
	gaps := float64(len(l.rows)-1) / 2
	return min(max(l.o.LayerGap, (right-left)*steepness/gaps), 4*l.o.LayerGap)
}

// placeRows places the layers below each other, each as high as its highest vertex. Layers of
// labels have half the gap above and below.
func (l *layers) placeRows(gap float64) {
	y := 0.0
	for i, row := range l.rows {
		height := 0.0
		for _, v := range row {
			height = max(height, l.vertices[v].height)
		}
		if i > 0 {
			y += gap / 2
		}
		for _, v := range row {
			l.vertices[v].y = y + height/2
			l.vertices[v].layer = height
		}
		y += height
	}
}
