package client

// bounded is a map that holds at most so many entries: the oldest goes first.
// It is not safe for concurrent use.
type bounded[K comparable, V any] struct {
	m    map[K]V
	ring []K // keys by age, from pos on once it is full
	pos  int
	max  int
}

func newBounded[K comparable, V any](max int) *bounded[K, V] {
	return &bounded[K, V]{m: make(map[K]V), max: max}
}

func (b *bounded[K, V]) get(k K) (V, bool) {
	v, ok := b.m[k]
	return v, ok
}

func (b *bounded[K, V]) put(k K, v V) {
	if _, ok := b.m[k]; !ok {
		if len(b.ring) < b.max {
			b.ring = append(b.ring, k)
		} else {
			delete(b.m, b.ring[b.pos])
			b.ring[b.pos] = k
			b.pos = (b.pos + 1) % b.max
		}
	}
	b.m[k] = v
}

// set changes the value of an entry that is there.
func (b *bounded[K, V]) set(k K, f func(V) V) {
	if v, ok := b.m[k]; ok {
		b.m[k] = f(v)
	}
}

func (b *bounded[K, V]) clear() { *b = *newBounded[K, V](b.max) }
