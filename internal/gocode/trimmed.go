package gocode

// TrimmedPath returns a frame's file as a build with -trimpath would name it: "import/path/file.go"
// in the main modules and the standard library, "module@version/file.go" in dependencies. Owner
// gives the same answer for it as for the file itself, on any machine. A file whose owner is not
// known is not changed.
func (x *Index) TrimmedPath(function, file string) string {
	switch o := x.Owner(function, file); {
	case o.File == "":
		return file
	case o.Kind == Std:
		return o.File
	case o.Kind == Dependency && o.Version != "":
		return o.Module + "@" + o.Version + "/" + o.File
	case o.Kind == Main || o.Kind == Dependency:
		return o.Module + "/" + o.File
	}
	return file
}
