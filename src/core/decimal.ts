// Numbers of JSON texts are decimal; binary remainders say that 1.11 is no multiple of 0.01.

interface Decimal {
  digits: bigint;
  exponent: number;
}

/** Whether `value` is a whole multiple of `step`, counted in the decimal digits both are written with. */
export function isMultipleOf(value: number, step: number): boolean {
  if (!Number.isFinite(value) || !Number.isFinite(step) || step <= 0) return false;
  const a = toDecimal(value);
  const b = toDecimal(step);
  const exponent = Math.min(a.exponent, b.exponent);
  return scale(a, exponent) % scale(b, exponent) === 0n;
}

// The shortest text that reads back as the number is how people wrote it.
function toDecimal(value: number): Decimal {
  const [mantissa = '0', exponent = '0'] = String(value).split('e');
  const [whole = '0', fraction = ''] = mantissa.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

function scale(decimal: Decimal, exponent: number): bigint {
  return decimal.digits * 10n ** BigInt(decimal.exponent - exponent);
}
