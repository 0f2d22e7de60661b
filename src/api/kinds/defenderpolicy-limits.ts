/** The limits of a DefenderPolicy that count: at one time, within a time, on one machine, and the breakers. */
import { amount } from '../common.ts';
import { RISKS } from '../enums.ts';
import { choice, int, list, name, named, percent, type Rule, rules, type Schema, text } from '../schema.ts';
import { ACTION_NAMES } from '../steps/registry.ts';

/** An absent or empty list of risks or actions stands for all of them. */
export function risks(min: 0 | 1 = 0): Schema {
  const schema = list('Risks that it is for; none: all.', choice('A risk.', RISKS), [min, 5]);
  return min === 0 ? schema.default([]) : schema;
}

export function actions(sentence: string, max = 16): Schema {
  return list(sentence, choice('An action.', ACTION_NAMES), [0, max]).default([]);
}

export const FOR_ACTIONS = 'Actions that it is for; none: all.';

const labelKeyRule: Rule = {
  rule: "(self.per == 'Label') == has(self.labelKey)",
  message: 'labelKey goes with per: Label, and only with it',
  fieldPath: '.labelKey',
};

export const concurrency = rules(
  named('ConcurrencyLimit', 'How many at one time.', {
    name: name('What it is called in messages.'),
    per: choice('What is counted together.', ['Cluster', 'Zone', 'Pool', 'Holder', 'Label']),
    labelKey: text('The label, for per: Label.', { max: 317, min: 1 }).optional(),
    actions: actions(FOR_ACTIONS),
    risks: risks(1).optional(),
    max: amount('How many.'),
  }),
  labelKeyRule,
);

export const rate = rules(
  named('RateLimit', 'How many within a time.', {
    name: name('What it is called in messages.'),
    per: choice('What is counted together.', ['Cluster', 'Pool', 'Zone', 'Holder', 'Label']),
    labelKey: text('The label, for per: Label.', { max: 317, min: 1 }).optional(),
    actions: actions(FOR_ACTIONS),
    risks: risks(),
    max: int('How many.'),
    windowSeconds: int('Within this time.', [60, 604_800]),
    burst: int('How many at once.').optional(),
  }),
  labelKeyRule,
  {
    rule: '!has(self.burst) || self.burst <= self.max',
    message: 'burst may not be above max',
    fieldPath: '.burst',
  },
);

export const perMachine = named('PerMachineLimit', 'How often one machine is repaired.', {
  maxGrants: int('Grants.').default(5),
  maxReboots: int('Of these, reboots.').default(3),
  windowSeconds: int('Within this time.').default(86_400),
  minIntervalSeconds: int('Time between two.').default(1800),
  lemon: named('LemonLimit', 'A machine that is not worth another repair.', {
    repairs: int('So many repairs.').default(5),
    windowSeconds: int('Within this time.').default(604_800),
    // oxlint-disable-next-line unicorn/no-thenable -- the word of the API
    then: choice('What follows.', ['HandOff']).default('HandOff'),
  }).prefault({}),
}).prefault({});

export const breaker = rules(
  named('Breaker', 'Stops acts when too much goes wrong.', {
    name: name('What it is called in messages.'),
    type: choice('What it watches.', [
      'UnhealthyRatio',
      'FailedActs',
      'ConsecutiveFailures',
      'CommonCause',
      'IndeterminateRatio',
    ]),
    per: choice('What is counted together.', ['Cluster', 'Zone', 'Pool', 'Holder']),
    risks: risks(),
    percent: percent('Opens at this share.').optional(),
    count: int('Opens at this number; or what the share is taken of.').optional(),
    withinSeconds: int('Within this time.').optional(),
    lift: int('How many times the base rate; CommonCause only.').default(2),
    dimensions: list('What may be the common cause.', name('A dimension.'), [0, 8]).optional(),
    cooldownSeconds: int('How long it stays open.').default(900),
    probes: int('Acts that are let through to try.').default(1),
    manualAfterTrips: int('After so many times a person must close it.').default(2),
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
