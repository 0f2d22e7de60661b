/** The counting limits of a DefenderPolicy: concurrency, rates, repairs of one machine, and breakers. */
import { amount } from '../common.ts';
import { DIMENSIONS, RISKS } from '../enums.ts';
import {
  type CelRule,
  choice,
  int,
  list,
  name,
  named,
  percent,
  rules,
  type Schema,
  text,
} from '../schema.ts';
import { ACTION_NAMES } from '../steps/registry.ts';

/** An absent or empty list of risks or actions means all of them. */
export function risks(min: 0 | 1 = 0): Schema {
  const schema = list('Risks that it applies to. Empty: all.', choice('A risk.', RISKS), [min, 5]);
  return min === 0 ? schema.default([]) : schema;
}

export function actions(sentence: string, max = 16): Schema {
  return list(sentence, choice('An action.', ACTION_NAMES), [0, max]).default([]);
}

export const FOR_ACTIONS = 'Actions that it applies to. Empty: all.';

const labelKeyRule: CelRule = {
  rule: "(self.per == 'Label') == has(self.labelKey)",
  message: 'labelKey is required with per: Label, and not allowed otherwise',
  fieldPath: '.labelKey',
};

export const concurrency = rules(
  named('ConcurrencyLimit', 'A limit of concurrent acts.', {
    name: name('Name used in messages.'),
    per: choice('Scope in which acts are counted together.', ['Cluster', 'Zone', 'Pool', 'Holder', 'Label']),
    labelKey: text('Label key for per: Label.', { max: 317, min: 1 }).optional(),
    actions: actions(FOR_ACTIONS),
    risks: risks(1).optional(),
    max: amount('Maximum count.'),
  }),
  labelKeyRule,
);

export const rate = rules(
  named('RateLimit', 'A limit of acts in a period.', {
    name: name('Name used in messages.'),
    per: choice('Scope in which acts are counted together.', ['Cluster', 'Pool', 'Zone', 'Holder', 'Label']),
    labelKey: text('Label key for per: Label.', { max: 317, min: 1 }).optional(),
    actions: actions(FOR_ACTIONS),
    risks: risks(),
    max: int('Maximum count.'),
    windowSeconds: int('Length of the period.', [60, 604_800]),
    burst: int('Maximum number of acts at once.').optional(),
  }),
  labelKeyRule,
  {
    rule: '!has(self.burst) || self.burst <= self.max',
    message: 'burst must not exceed max',
    fieldPath: '.burst',
  },
);

export const perMachine = named('PerMachineLimit', 'Limits of repairs of one machine.', {
  maxGrants: int('Maximum number of grants.').default(5),
  maxReboots: int('Maximum number of reboots.').default(3),
  windowSeconds: int('Length of the period.').default(86_400),
  minIntervalSeconds: int('Minimum time between two repairs.').default(1800),
  lemon: named('LemonLimit', 'When a machine is a lemon, which is not repaired again.', {
    repairs: int('Number of repairs that make it a lemon.').default(5),
    windowSeconds: int('Length of the period.').default(604_800),
    // oxlint-disable-next-line unicorn/no-thenable -- name of the API field
    then: choice('What follows.', ['HandOff']).default('HandOff'),
  }).prefault({}),
}).prefault({});

export const breaker = rules(
  named('Breaker', 'A breaker that stops acts when too much goes wrong.', {
    name: name('Name used in messages.'),
    type: choice('What the breaker watches.', [
      'UnhealthyRatio',
      'FailedActs',
      'ConsecutiveFailures',
      'CommonCause',
      'IndeterminateRatio',
    ]),
    per: choice('Scope in which acts are counted together.', ['Cluster', 'Zone', 'Pool', 'Holder']),
    risks: risks(),
    percent: percent('Percentage at which the breaker opens.').optional(),
    count: int('Count at which the breaker opens, or the number of acts that percent refers to.').optional(),
    withinSeconds: int(
      'Period that is evaluated. For IndeterminateRatio, how long facts of a machine have been unknown before it counts: by default 600.',
    ).optional(),
    lift: int('Factor above the base rate. CommonCause only.').default(2),
    dimensions: list(
      'Properties that may be a common cause.',
      choice('A property of machines.', DIMENSIONS),
      [0, DIMENSIONS.length],
    ).optional(),
    cooldownSeconds: int('How long the breaker stays open.').default(900),
    probes: int('Acts that are granted as probes when the breaker is half open.').default(1),
    manualAfterTrips: int('Number of trips in 24 hours after which a person must close the breaker.').default(
      2,
    ),
  }),
  {
    rule: "self.type != 'FailedActs' || (has(self.count) && has(self.percent) != has(self.withinSeconds))",
    message:
      'FailedActs needs count, and either percent (of the last count acts) or withinSeconds (count acts in it)',
  },
  {
    rule: "self.type != 'CommonCause' || (has(self.dimensions) && has(self.count) && has(self.withinSeconds))",
    message: 'CommonCause needs dimensions, count and withinSeconds',
  },
);
