/** A fact as a decision read it: `condition FrequentTaskHung: status True, observedSeconds 141`. Pure. */
import type { Evidence } from '../../api/generated/types.ts';

export function evidenceText({ fact, params = {}, value = {} }: Evidence): string {
  const name = [fact, ...Object.values(params).map(String)].join(' ');
  const values = Object.entries(value).map(([field, each]) => `${field} ${valueText(each)}`);
  return values.length > 0 ? `${name}: ${values.join(', ')}` : `${name}: unknown`;
}

function valueText(value: unknown): string {
  return String(typeof value === 'number' ? Math.round(value * 1000) / 1000 : value);
}
