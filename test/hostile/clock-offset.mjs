// Loaded before a gateway: its wall clock is CLOCK_OFFSET milliseconds off.
const own = Date.now
const offset = Number(process.env.CLOCK_OFFSET)

class OffsetDate extends Date {
  constructor(...given) {
    super(...(given.length === 0 ? [own() + offset] : given))
  }

  static now() {
    return own() + offset
  }
}

globalThis.Date = OffsetDate
