#if os(Linux)
/// Values in the order of their arrival, each with a number of its own, by which it can leave from anywhere. Each operation is O(1),
/// amortized.
// Inlined, so that the other modules know the type, and need not ask for its metadata each time.
package struct Line<Element> {
    @usableFromInline var elements: [UInt: Element] = [:]
    /// Of all that are in `elements`, and of some that have left, but not at the beginning.
    @usableFromInline var order = Queue<UInt>()
    @usableFromInline var numbersSoFar: UInt = 0

    @inlinable package init() {}

    @inlinable package var count: Int { elements.count }
    @inlinable package var isEmpty: Bool { elements.isEmpty }

    /// The number of the first one.
    @inlinable package var first: UInt? { order.first }

    @inlinable package subscript(number: UInt) -> Element? { elements[number] }

    /// A number that was not made before: of a value that may be appended later, or not at all.
    @inlinable package mutating func makeNumber() -> UInt {
        numbersSoFar += 1
        return numbersSoFar
    }

    /// - Returns: its number.
    @inlinable package mutating func append(_ element: Element) -> UInt {
        let number = makeNumber()
        append(element, number)
        return number
    }

    @inlinable package mutating func append(_ element: Element, _ number: UInt) {
        elements[number] = element
        order.append(number)
    }

    /// `nil` if there is none.
    @inlinable package mutating func removeFirst() -> Element? { order.first.flatMap { remove($0) } }

    /// `nil` if it is not there.
    @discardableResult @inlinable
    package mutating func remove(_ number: UInt) -> Element? {
        guard let element = elements.removeValue(forKey: number) else { return nil }
        while let first = order.first, elements[first] == nil { _ = order.removeFirst() }
        if order.count > 32, order.count / 2 > elements.count {
            order = order.removeAll().reduce(into: Queue()) { if elements[$1] != nil { $0.append($1) } }
        }
        return element
    }

    @inlinable package mutating func removeAll() -> [Element] {
        defer { elements = [:] }
        return order.removeAll().compactMap { elements[$0] }
    }
}
#endif
