/** Shapes that several kinds share. */
import { z } from 'zod';
import { CLOCK_TIME, CONDITION_REASON, HTTP_URL, QUALIFIED_NAME, SHARE } from './patterns.ts';
import {
  bigInt,
  choice,
  decimal,
  type Fields,
  flag,
  int,
  list,
  listMap,
  map,
  message,
  NAME_MAX,
  name,
  named,
  type Rule,
  reason,
  rules,
  type Schema,
  TYPE_NAME,
  text,
  time,
} from './schema.ts';

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const wait = named('Wait', 'Why it waits: the reason, the object that blocks, and since when.', {
  reason: reason(),
  blocker: named('Blocker', 'The object that blocks.', {
    kind: name('Its kind.'),
    name: name('Its name.', 253),
    namespace: text('Its namespace, if it has one.', { max: NAME_MAX }).optional(),
  }).optional(),
  since: time('Since when it waits for this.'),
  message: message().optional(),
});

/** The one form of "why it waits", in every status that can wait. */
export function waiting(sentence = 'What it waits for; absent when nothing waits.'): Schema {
  return wait.describe(sentence).optional();
}

/** An integer, or a share of the set in question. */
export function amount(sentence: string): Schema {
  return z.union([z.int(), z.string()]).meta({
    description: `${sentence} A number, or "n%" of the set, rounded down, but at least 1 when n is above 0.`,
    [TYPE_NAME]: 'Amount',
    'x-kubernetes-int-or-string': true,
    minimum: 0,
    maximum: 1_000_000,
    maxLength: 4,
    pattern: SHARE.regex,
  });
}

const anySelector = rules(
  named('Selector', 'Selects by labels. Everything is said aloud with `all: true`.', {
    all: flag('Selects everything.').default(false),
    matchLabels: map(
      'Labels that must have these values.',
      text('The value.', { max: NAME_MAX }),
      16,
    ).optional(),
    matchExpressions: list(
      'Requirements that must all hold.',
      named('MatchExpression', 'One requirement on a label.', {
        key: name('The label.', 317),
        operator: choice('How the label is compared.', ['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: list('Values for In and NotIn.', text('A value.', { max: NAME_MAX }), [0, 32]).optional(),
      }),
      [0, 16],
    ).optional(),
  }),
  {
    rule: 'self.all != ((has(self.matchLabels) && size(self.matchLabels) > 0) || (has(self.matchExpressions) && size(self.matchExpressions) > 0))',
    message:
      'an empty selector selects nothing: give matchLabels or matchExpressions, or say all: true for everything, but not both',
  },
);

export function selector(sentence: string): Schema {
  return anySelector.describe(sentence);
}

const windowFields: Fields = {
  name: name('What this time is called in messages.'),
  days: list(
    'Days on which it starts; absent: every day.',
    choice('A weekday.', WEEKDAYS),
    [1, 7],
  ).optional(),
  start: text('When it starts, HH:MM.', { max: 5, pattern: CLOCK_TIME }),
  end: text('When it ends, HH:MM; an end before the start is on the next day.', {
    max: 5,
    pattern: CLOCK_TIME,
  }),
  timeZone: name('IANA time zone, as Europe/Berlin.', 64),
};

const windowRule: Rule = {
  rule: 'self.start != self.end',
  message: 'start and end are the same time, so nothing would lie between them',
  fieldPath: '.end',
};

/** Times of each week. A kind that says more of each gives its name and the further fields. */
export function windows(sentence: string, type = 'Window', more: Fields = {}): Schema {
  const item = rules(named(type, 'A time of each week.', { ...windowFields, ...more }), windowRule);
  return listMap(sentence, ['name'], item, [0, 16]);
}

const freezeFields: Fields = {
  name: name('What the freeze is called in messages.'),
  from: time('When it begins.'),
  until: time('When it ends.'),
  reason: name('Why, for people.', 256),
};

const freezeRule: Rule = {
  rule: 'timestamp(self.from) < timestamp(self.until)',
  message: 'a freeze must end after it begins',
  fieldPath: '.until',
};

export function freezes(sentence: string, max: number, type = 'Freeze', more: Fields = {}): Schema {
  const item = rules(named(type, 'Forbidden time, once.', { ...freezeFields, ...more }), freezeRule);
  return listMap(sentence, ['name'], item, [0, max]);
}

const check = rules(
  named('Check', 'A health gate: exactly one of builtin, http, promql and cel. No answer is never a pass.', {
    name: name('What the check is called in messages.'),
    builtin: named(
      'BuiltinCheck',
      'Machines Ready, probes, agent heartbeat, Node conditions.',
      {},
    ).optional(),
    http: named('HttpCheck', 'A URL that must answer.', {
      url: text('The URL.', { max: 512, pattern: HTTP_URL }),
      expectStatus: int('The status code of a pass.', [100, 599]).default(200),
    }).optional(),
    promql: named('PromqlCheck', 'A Prometheus query whose value must lie within the bounds.', {
      query: name('The query.', 1024),
      max: decimal('The value may not be above this.').optional(),
      min: decimal('The value may not be below this.').optional(),
    }).optional(),
    cel: named('CelCheck', 'An expression that must be true for each object of one of our kinds.', {
      kind: name('The kind.'),
      expression: name('CEL over `self`.', 1024),
    }).optional(),
    intervalSeconds: int('How often it runs.', [5, 3600]).default(30),
    failureLimit: int('Failures that a soak survives.', [0, 100]).default(0),
    inconclusiveLimit: int('Runs without an answer that a soak survives.', [0, 100]).default(3),
  }),
  {
    rule: '[has(self.builtin), has(self.http), has(self.promql), has(self.cel)].exists_one(x, x)',
    message: 'give exactly one of builtin, http, promql and cel',
  },
  {
    rule: '!has(self.promql) || has(self.promql.min) || has(self.promql.max)',
    message: 'a query needs min, max or both: without a bound every value would pass',
    fieldPath: '.promql',
    reason: 'FieldValueRequired',
  },
);

export function checks(sentence: string): Schema {
  return listMap(sentence, ['name'], check, [0, 16]);
}

const condition = named('Condition', 'One observation of an object: metav1.Condition.', {
  type: text('What is observed.', { max: 316, min: 1, pattern: QUALIFIED_NAME }),
  status: choice('Whether it holds; Unknown is never good.', ['True', 'False', 'Unknown']),
  observedGeneration: bigInt('The generation of the spec that this is about.').optional(),
  lastTransitionTime: time('When the status last changed.'),
  reason: text('A CamelCase word for why, for programs.', {
    max: 64,
    min: 1,
    pattern: CONDITION_REASON,
  }),
  message: message('What was observed, for people.', 1024),
});

/** What every status starts with. `phases` are the columns of the kind's table. */
export function statusHead(phases: readonly [string, ...string[]]): Fields {
  return {
    observedGeneration: bigInt('The generation of the spec that this status is about.').optional(),
    phase: choice(
      'One word for people, computed from the conditions; no program reads it.',
      phases,
    ).optional(),
    conditions: listMap(
      'What is observed, each with a generation of its own.',
      ['type'],
      condition,
      [0, 32],
    ).default([]),
  };
}

const secretKey = text('Key in the Secret.', { max: 253, min: 1 });

/** A Secret in the namespace kubenode-system, and the key in it that counts. */
export function secretRef(sentence: string): Schema {
  return named('SecretRef', 'A Secret in the namespace kubenode-system.', {
    name: name('Name of the Secret.'),
    key: secretKey.optional(),
  }).describe(sentence);
}

/** As `secretRef`, where the key has a usual name. `type` tells the defaults apart. */
export function secretRefWithKey(type: string, sentence: string, key: string): Schema {
  return named(type, 'A Secret in the namespace kubenode-system.', {
    name: name('Name of the Secret.'),
    key: secretKey.default(key),
  }).describe(sentence);
}

export function count(sentence: string): Schema {
  return int(sentence).optional();
}
