/** Reads quantities of Kubernetes: `100m`, `1.5Gi`, `1e3`. Pure. */

const QUANTITY = /^(\+?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d{1,2})|(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)?)$/;
const UNITS: Readonly<Record<string, number>> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Returns the quantity in thousandths, rounded up, so that sums of `100m` are exact. Undefined: it cannot be read, or is negative. */
export function milliQuantity(quantity: unknown): number | undefined {
  if (typeof quantity !== 'string' && typeof quantity !== 'number') return undefined;
  const found = QUANTITY.exec(String(quantity));
  const value = found ? valueOf(found) * 1000 : Number.NaN;
  // 15 digits are exact: 1.1 * 1000 is not.
  return Number.isFinite(value) ? Math.ceil(Number(value.toPrecision(15))) : undefined;
}

function valueOf([, amount = '', exponent = '0', unit]: RegExpExecArray): number {
  const scale = unit === undefined ? 1 : (UNITS[unit] ?? Number.NaN);
  return Number(`${amount}e${exponent}`) * scale;
}
