package sim

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/inference-sim/accuracy-dashboard/internal/keep"
	"github.com/inference-sim/accuracy-dashboard/sim/des"
)

// router is what routes; conformance judges one.
type router = des.Component[message]

// sending is a message that a client sends at an instant.
type sending struct {
	at    des.Time
	class des.Class
	body  *request
}

// script sends what it is told.
type script struct {
	to   des.ID
	left []sending
}

func (s *script) Next() des.Time {
	if len(s.left) == 0 {
		return des.Never
	}
	return s.left[0].at
}

func (s *script) Output(now des.Time, out *outbox) {
	for _, x := range s.left {
		if x.at == now {
			out.Send(s.to, x.class, message{request: x.body})
		}
	}
}

func (s *script) Internal(now des.Time) {
	for len(s.left) > 0 && s.left[0].at == now {
		s.left = s.left[1:]
	}
}

func (s *script) External(des.Time, bag)        {}
func (s *script) Confluent(now des.Time, b bag) { s.Internal(now) }

// sink keeps what an instance is given.
type sink struct{ got []sending }

func (*sink) Next() des.Time                { return des.Never }
func (*sink) Output(des.Time, *outbox)      {}
func (*sink) Internal(des.Time)             {}
func (s *sink) Confluent(n des.Time, b bag) { s.External(n, b) }
func (s *sink) External(now des.Time, b bag) {
	for i := range b {
		s.got = append(s.got, sending{now, b[i].Class, b[i].Body.request})
	}
}

// conformance runs a router and says what it does that the contract of every router
// forbids (RTR-3): each request goes to one instance, which it names, at the instant it
// comes; an abort goes where its request went; nothing else is sent. choices are the
// instances it chose, in order.
func conformance(t *testing.T, under func(targets []des.ID) router) (choices []int32, problems []string) {
	t.Helper()
	k := des.New[message]()
	sinks, targets := make([]*sink, 3), make([]des.ID, 3)
	for i := range sinks {
		sinks[i] = new(sink)
		targets[i] = k.Add(fmt.Sprint("instance ", i), sinks[i], 50)
	}
	s := &script{to: k.Add("router", under(targets), 50)}
	k.Add("client", s, 50)
	sent := map[*request]des.Time{}
	var all []*request
	for now := range des.Time(8) {
		for range 1 + now%3 {
			r := &request{serial: uint64(len(all))}
			all, sent[r] = append(all, r), now
			s.left = append(s.left, sending{now, classRequest, r})
		}
		if now%2 == 1 {
			s.left = append(s.left, sending{now, classAbort, all[now]}) // sent at an earlier instant
		}
	}
	want := len(s.left)
	if err := k.Start(); err != nil {
		t.Fatal(err)
	}
	for k.Next() != des.Never {
		if err := k.Round(); err != nil {
			t.Fatal(err)
		}
	}
	arrived := map[*request]int{}
	for i, sink := range sinks {
		want -= len(sink.got)
		for _, x := range sink.got {
			if x.class == classRequest {
				arrived[x.body]++
			}
			if int(x.body.instance) != i {
				problems = append(problems, fmt.Sprintf("request %d is for instance %d and went to %d", x.body.serial, x.body.instance, i))
			}
			if x.class == classRequest && x.at != sent[x.body] {
				problems = append(problems, fmt.Sprintf("request %d was sent at %d and arrived at %d", x.body.serial, sent[x.body], x.at))
			}
		}
	}
	if want != 0 {
		problems = append(problems, fmt.Sprintf("%d messages were lost", want))
	}
	for _, r := range all {
		if arrived[r] != 1 {
			problems = append(problems, fmt.Sprintf("request %d arrived %d times", r.serial, arrived[r]))
		}
		choices = append(choices, r.instance)
	}
	return choices, problems
}

func TestWhateverRoutesConforms(t *testing.T) {
	keep.Rule(t, "RTR-3", "X4")
	for name, under := range map[string]func([]des.ID) router{
		"round robin": func(to []des.ID) router { return &roundRobin{targets: to} },
	} {
		first, problems := conformance(t, under)
		again, _ := conformance(t, under)
		if len(problems) > 0 || !slices.Equal(first, again) {
			t.Errorf("%s: got %q, choices %v and then %v", name, problems, first, again)
		}
	}
}

// broken is a router that breaks the contract in one way.
type broken struct {
	roundRobin
	how string
}

func (b *broken) Next() des.Time {
	if b.how == "late" && len(b.held) > 0 {
		return b.now + 1
	}
	return b.roundRobin.Next()
}

func (b *broken) Output(_ des.Time, out *outbox) {
	for i := range b.held {
		m, place := &b.held[i], int(b.held[i].Body.request.instance)
		switch {
		case b.how == "lost" && m.Class == classAbort:
			continue
		case b.how == "elsewhere" && m.Class == classAbort:
			place = (place + 1) % len(b.targets)
		case b.how == "twice" && m.Class == classRequest:
			out.Send(b.targets[(place+1)%len(b.targets)], m.Class, m.Body)
		}
		out.Send(b.targets[place], m.Class, m.Body)
	}
}

func TestABrokenRouterIsFound(t *testing.T) {
	keep.Rule(t, "RTR-3", "X4")
	for how, want := range map[string]string{
		"": "", "lost": "messages were lost", "elsewhere": "and went to", "twice": "arrived 2 times", "late": "was sent at 0 and arrived at 1",
	} {
		_, problems := conformance(t, func(to []des.ID) router { return &broken{roundRobin{targets: to}, how} })
		got := strings.Join(problems, "; ")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", how, got, want)
		}
	}
}
