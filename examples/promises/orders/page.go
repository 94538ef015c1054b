package main

const page = `<!doctype html>
<title>{{len .}} orders</title>
<table>
<tr><th>Order<th>Article<th>Pieces<th>Price<th>State</tr>
{{range .}}<tr class="{{.State}}"><td>{{.ID}}<td>{{.Article}}<td>{{.Pieces}}<td>{{.Cents}}<td>{{.State}}</tr>
{{else}}<tr><td colspan=5>No orders yet.</tr>
{{end}}</table>
`
