/** Derives from the objectives what dashboards show of them: thresholds, and how fast the error budgets are spent. Pure. */
import { BURN_RATES, burnLimit, SLO_ERRORS, SLO_OBJECTIVE } from '../slos/burn-rates.ts';
import type { Slo } from '../slos/slo.ts';
import { SLOS } from '../slos/slos.ts';
import { badFrom, goodFrom, type Panel, type Thresholds, trend } from './panel.ts';

/** Green up to the limit of the objective. */
export function withinObjective(name: string): Thresholds {
  const { indicator } = sloNamed(name);
  if (indicator.type !== 'Durations') throw new Error(`the objective ${name} has no limit in seconds`);
  return badFrom(indicator.limitSeconds, indicator.limitSeconds * 5);
}

/** Green from the objective on; red from where the fastest burn rate of the alerts begins. */
export function shareOfObjective(name: string): Thresholds {
  const { objective } = sloNamed(name);
  const fastest = Math.max(...BURN_RATES.map(({ factor }) => factor));
  return goodFrom(objective, 1 - burnLimit(objective, fastest));
}

export function burnRatePanel(names: readonly string[]): Panel {
  const slo = `{slo=~"${names.join('|')}"}`;
  return trend(
    {
      title: 'Burn rate of error budgets, last hour',
      description:
        'At 1 the budget of 30 days lasts 30 days. The alerts call a person at 14.4 for an hour, or at 6 for six hours. No line: no event in that hour.',
      thresholds: badFrom(1, Math.max(...BURN_RATES.map(({ factor }) => factor))),
    },
    {
      expr: `${SLO_ERRORS}_rate1h${slo} / on (slo) (1 - ${SLO_OBJECTIVE}${slo})`,
      legend: '{{slo}}',
    },
  );
}

function sloNamed(name: string): Slo {
  const found = SLOS.find((slo) => slo.name === name);
  if (!found) throw new Error(`no objective is named ${name}`);
  return found;
}
