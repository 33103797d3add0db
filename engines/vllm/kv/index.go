package kv

// This file is the project's own: upstream looks blocks up in a dictionary.

import "math/bits"

// index finds nodes by key, eight keys at a time: keys that differ in their last three
// bits alone are one octet, found by the rest. Keys that count up along a sequence, as
// a HashSource may give them, fill one octet after another, so that storing, finding or
// dropping a prompt costs a search for every eighth block. A node remembers its octet
// and its lane there, so that dropping it searches nothing.
type index struct {
	heads  []int32 // the first octet of each chain, none for none
	octets []octet
	spare  int32 // first unused octet, linked by next
	shift  int
	live   int // distinct keys
}

// octet is eight keys.
type octet struct {
	number uint64 // key / lanes
	next   int32  // in its chain
	has    uint8  // the lanes whose keys have a node
	group  uint8  // the keys' group
	nodes  [lanes]int32
}

const lanes = 8

// init makes room for the keys of n blocks: most sequences fill their octets, and two
// chains for every four blocks keep chains short for those that do not.
func (x *index) init(n int) {
	size := bits.Len(uint(max(n/2, 2) - 1))
	*x = index{heads: make([]int32, 1<<size), shift: 64 - size, spare: none}
	for i := range x.heads {
		x.heads[i] = none
	}
}

// chain is where a number's octet is linked, by Fibonacci hashing.
func (x *index) chain(number uint64) *int32 {
	return &x.heads[number*0x9E3779B97F4A7C15>>x.shift]
}

// find returns the octet of a number, none if none of its keys has a node.
func (x *index) find(number uint64) int32 {
	at := *x.chain(number)
	for at != none && x.octets[at].number != number {
		at = x.octets[at].next
	}
	return at
}

// at reports whether the octet at a place, any place, is in use for a number.
func (x *index) at(place int32, number uint64) bool {
	return uint(place) < uint(len(x.octets)) && x.octets[place].number == number && x.octets[place].has != 0
}

// add makes the octet of a number that has none.
func (x *index) add(number uint64, group int) int32 {
	at := x.spare
	if at == none {
		at = int32(len(x.octets))
		x.octets = append(x.octets, octet{})
	} else {
		x.spare = x.octets[at].next
	}
	head, o := x.chain(number), &x.octets[at]
	o.number, o.next, o.group = number, *head, uint8(group)
	*head = at
	return at
}

// empty takes the only nodes of some lanes from an octet.
func (x *index) empty(at int32, which uint8) {
	o := &x.octets[at]
	x.live -= bits.OnesCount8(which)
	if o.has &^= which; o.has == 0 {
		x.drop(at)
	}
}

// drop takes out an octet whose keys have lost their nodes.
func (x *index) drop(at int32) {
	o := &x.octets[at]
	link := x.chain(o.number)
	for *link != at {
		link = &x.octets[*link].next
	}
	*link, o.next, x.spare = o.next, x.spare, at
}

// lane is where in the index a node's key is: octet and place, plus one, so that zero
// is nowhere; and whether the node has links.
type lane uint32

const linked lane = 1 << 31

func laneOf(octet int32, key uint64) lane { return lane(octet)*lanes + lane(key%lanes) + 1 }

// split returns the octet and the place in it.
func (l lane) split() (octet int32, place int) {
	l = l&^linked - 1
	return int32(l / lanes), int(l % lanes)
}
