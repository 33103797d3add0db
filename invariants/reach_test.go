package invariants

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/types/typeutil"
)

// reaching finds the functions that a program can call. It follows every function that a
// reached body mentions, and every method of a type that a reached body puts into an
// interface, when such a body calls it through one or code of another module may. It is
// rapid type analysis, but for bodies of other modules, which are not loaded: what they
// may call is bounded by their interfaces.
type reaching struct {
	prog    *ssa.Program
	seen    map[*ssa.Function]bool
	queue   []*ssa.Function
	boxed   typeutil.Map // every type put into an interface, and what reflection finds in it
	methods map[string][]*types.Selection
	called  map[string][]*types.Interface // method name to the interfaces it is called through
	live    map[token.Pos]bool            // where the functions that are reached are declared
}

// byName are methods that the standard library looks up by unexported interfaces.
var byName = []string{"As", "Is", "IsZero", "Unwrap"}

func newReaching(prog *ssa.Program, ours func(*types.Package) bool) *reaching {
	r := &reaching{prog: prog, seen: map[*ssa.Function]bool{}, methods: map[string][]*types.Selection{}, called: map[string][]*types.Interface{}, live: map[token.Pos]bool{}}
	foreign := []types.Object{types.Universe.Lookup("error")}
	for _, p := range prog.AllPackages() {
		if ours(p.Pkg) {
			continue
		}
		for _, name := range p.Pkg.Scope().Names() {
			if o := p.Pkg.Scope().Lookup(name); o.Exported() {
				foreign = append(foreign, o)
			}
		}
	}
	for _, o := range foreign {
		named, ok := o.Type().(*types.Named)
		if _, isType := o.(*types.TypeName); !ok || !isType || named.TypeParams().Len() > 0 {
			continue
		}
		if i, ok := named.Underlying().(*types.Interface); ok {
			for m := range i.Methods() {
				r.called[m.Name()] = append(r.called[m.Name()], i)
			}
		}
	}
	return r
}

// from follows everything that fns reach.
func (r *reaching) from(fns ...*ssa.Function) {
	for _, f := range fns {
		r.add(f)
	}
	for len(r.queue) > 0 {
		f := r.queue[len(r.queue)-1]
		r.queue = r.queue[:len(r.queue)-1]
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				r.visit(i)
			}
		}
	}
}

func (r *reaching) add(f *ssa.Function) {
	if f == nil || r.seen[f] {
		return
	}
	r.seen[f] = true
	r.queue = append(r.queue, f)
	if o := f.Object(); o != nil {
		r.live[o.Pos()] = true
	}
}

func (r *reaching) visit(i ssa.Instruction) {
	for _, v := range i.Operands(nil) {
		if f, ok := (*v).(*ssa.Function); ok {
			r.add(f)
		}
	}
	switch i := i.(type) {
	case *ssa.MakeInterface:
		r.box(i.X.Type())
	case ssa.CallInstruction:
		if c := i.Common(); c.IsInvoke() {
			r.invoke(c.Value.Type().Underlying().(*types.Interface), c.Method.Name())
		}
	}
}

// invoke reaches the method of every boxed type that has the interface.
func (r *reaching) invoke(through *types.Interface, name string) {
	if slices.Contains(r.called[name], through) {
		return
	}
	r.called[name] = append(r.called[name], through)
	for _, sel := range r.methods[name] {
		if types.Implements(sel.Recv(), through) {
			r.add(r.prog.MethodValue(sel))
		}
	}
}

// box reaches the called methods of a type, and boxes its parts.
func (r *reaching) box(t types.Type) {
	if t = types.Unalias(t); types.IsInterface(t) || r.boxed.At(t) != nil {
		return
	}
	r.boxed.Set(t, true)
	set := r.prog.MethodSets.MethodSet(t)
	for sel := range set.Methods() {
		name := sel.Obj().Name()
		r.methods[name] = append(r.methods[name], sel)
		if slices.Contains(byName, name) || slices.ContainsFunc(r.called[name], func(i *types.Interface) bool { return types.Implements(t, i) }) {
			r.add(r.prog.MethodValue(sel))
		}
	}
	part := func(t types.Type) { r.box(t); r.box(types.NewPointer(t)) }
	switch u := t.Underlying().(type) {
	case *types.Pointer:
		if _, twice := u.Elem().Underlying().(*types.Pointer); !twice {
			r.box(u.Elem())
		}
	case *types.Struct:
		for f := range u.Fields() {
			part(f.Type())
		}
	case *types.Map:
		part(u.Key())
		part(u.Elem())
	case interface{ Elem() types.Type }: // arrays, slices, channels
		part(u.Elem())
	}
}

// roots are the functions a program starts with: main and the initialisers of each main
// package, and all of the packages that are used by tests.
func roots(pkgs []*ssa.Package, supports func(dir string) bool) (out []*ssa.Function) {
	for _, p := range pkgs {
		if p.Pkg.Name() == "main" {
			out = append(out, p.Func("main"), p.Func("init"))
		}
		if !supports(p.Pkg.Path()) {
			continue
		}
		for _, m := range p.Members {
			switch m := m.(type) {
			case *ssa.Function:
				out = append(out, m)
			case *ssa.Type:
				for sel := range p.Prog.MethodSets.MethodSet(types.NewPointer(m.Type())).Methods() {
					out = append(out, p.Prog.MethodValue(sel))
				}
			}
		}
	}
	return slices.DeleteFunc(out, func(f *ssa.Function) bool { return f == nil || strings.HasPrefix(f.Name(), "_") })
}
