import { describe, expect, it } from 'vitest';
import { METRIC_TABLE } from '../../../src/observability/metrics/table.ts';
import { BURN_RATES, burnLimit } from '../../../src/observability/slos/burn-rates.ts';
import type { Indicator } from '../../../src/observability/slos/slo.ts';
import { SLOS } from '../../../src/observability/slos/slos.ts';

describe('the objectives', () => {
  it('DAT-05 are the six that are promised', () => {
    expect(SLOS.map(({ name, objective }) => `${name} ${objective}`)).toEqual([
      'machines-ready 0.995',
      'agents-reporting 0.999',
      'fault-to-decision 0.95',
      'fault-to-healed 0.95',
      'push-to-first-stage 0.95',
      'drift-corrected 0.95',
    ]);
  });

  it.each(SLOS)(
    'DAT-05 $name is measured by a bucket at its limit, or by states that exist',
    ({ indicator }) => {
      expect(missingIn(indicator)).toEqual([]);
    },
  );

  it.each(SLOS)('DAT-05 every burn rate of $name can be reached: no ratio is above 1', ({ objective }) => {
    expect(BURN_RATES.filter(({ factor }) => burnLimit(objective, factor) >= 1)).toEqual([]);
  });

  it('DAT-05 the windows spend 2, 5, 10 and 10 % of the budget of 30 days', () => {
    const hours: Readonly<Record<string, number>> = { '1h': 1, '6h': 6, '1d': 24, '3d': 72 };
    const spent = BURN_RATES.map(({ factor, long }) => Math.round((factor * (hours[long] ?? 0) * 100) / 720));
    expect(spent).toEqual([2, 5, 10, 10]);
  });
});

/** Returns what the table of metrics does not have. */
function missingIn(indicator: Indicator): readonly (string | number)[] {
  const name = indicator.type === 'Durations' ? indicator.histogram : indicator.gauge;
  const metric = METRIC_TABLE.find((each) => each.name === name);
  if (!metric) return [name];
  if (indicator.type === 'Durations') {
    return metric.buckets?.includes(indicator.limitSeconds) ? [] : [indicator.limitSeconds];
  }
  const values = metric.labels?.[indicator.label] ?? [];
  return [indicator.good, indicator.bad].filter((state) => 'of' in values || !values.includes(state));
}
