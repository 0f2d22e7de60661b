/** Schemas that several kinds share. */
import { z } from 'zod';
import { ANNOTATION_SECRET_USE } from './names.ts';
import { CLOCK_TIME, CONDITION_REASON, HTTP_URL, OBJECT_NAME, QUALIFIED_NAME, SHARE } from './patterns.ts';
import {
  bigInt,
  type CelRule,
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
  reason,
  rules,
  type Schema,
  TYPE_NAME,
  text,
  time,
} from './schema.ts';
import type { SecretUse } from './secrets/references.ts';
import { UNHEALTHY_PHASES } from './status/unhealthy-phases.ts';

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
const wait = named('Wait', 'Why the object waits.', {
  reason: reason(),
  blocker: named('Blocker', 'Object that blocks progress.', {
    kind: name('Kind of the object.'),
    name: name('Name of the object.', 253),
    namespace: text('Namespace of the object, if it has one.', { max: NAME_MAX }).optional(),
  }).optional(),
  since: time('When the wait began.'),
  message: message().optional(),
});

/** `waiting`: why the object waits. The same in every status that can wait. */
export function waiting(sentence = 'What the object waits for. Absent while it does not wait.'): Schema {
  return wait.describe(sentence).optional();
}

/** An integer, or a percentage of the set in question. */
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
  named(
    'Selector',
    'Selects objects by labels. An empty selector is refused; `all: true` selects everything.',
    {
      all: flag('Whether everything is selected.').default(false),
      matchLabels: map(
        'Labels and the values that they must have.',
        text('Label value.', { max: NAME_MAX }),
        16,
      ).optional(),
      matchExpressions: list(
        'Requirements that must all be met.',
        named('MatchExpression', 'A requirement on one label.', {
          key: name('Label key.', 317),
          operator: choice('Operator that compares the label.', ['In', 'NotIn', 'Exists', 'DoesNotExist']),
          values: list(
            'Values for the operators In and NotIn.',
            text('Label value.', { max: NAME_MAX }),
            [0, 32],
          ).optional(),
        }),
        [0, 16],
      ).optional(),
    },
  ),
  {
    rule: 'self.all != ((has(self.matchLabels) && size(self.matchLabels) > 0) || (has(self.matchExpressions) && size(self.matchExpressions) > 0))',
    message:
      'an empty selector selects nothing: give matchLabels or matchExpressions, or set all: true to select everything, but not both',
  },
);

export function selector(sentence: string): Schema {
  return anySelector.describe(sentence);
}

const windowFields: Fields = {
  name: name('Name used in messages.'),
  days: list(
    'Days on which the window starts. Default: every day.',
    choice('Weekday.', WEEKDAYS),
    [1, 7],
  ).optional(),
  start: text('Start as HH:MM.', { max: 5, pattern: CLOCK_TIME }),
  end: text('End as HH:MM. An end before the start is on the next day.', {
    max: 5,
    pattern: CLOCK_TIME,
  }),
  timeZone: name('IANA time zone, such as Europe/Berlin.', 64),
};

const windowRule: CelRule = {
  rule: 'self.start != self.end',
  message: 'start and end must differ',
  fieldPath: '.end',
};

/** Weekly periods. A kind with further fields gives them and a type name. */
export function windows(sentence: string, type = 'Window', more: Fields = {}): Schema {
  const item = rules(named(type, 'A weekly period.', { ...windowFields, ...more }), windowRule);
  return listMap(sentence, ['name'], item, [0, 16]);
}

const freezeFields: Fields = {
  name: name('Name used in messages.'),
  from: time('Start of the freeze.'),
  until: time('End of the freeze.'),
  reason: name('Reason for the freeze.', 256),
};

const freezeRule: CelRule = {
  rule: 'timestamp(self.from) < timestamp(self.until)',
  message: 'until must be later than from',
  fieldPath: '.until',
};

export function freezes(sentence: string, max: number, type = 'Freeze', more: Fields = {}): Schema {
  const item = rules(
    named(type, 'A single period in which changes are not allowed.', { ...freezeFields, ...more }),
    freezeRule,
  );
  return listMap(sentence, ['name'], item, [0, max]);
}

const check = rules(
  named(
    'Check',
    'A health check: exactly one of builtin, http, promql and cel. An error or a missing result is never a pass.',
    {
      name: name('Name used in messages.'),
      builtin: named(
        'BuiltinCheck',
        'Checks that machines are Ready, probes pass, agents send heartbeats and Node conditions are good.',
        {},
      ).optional(),
      http: named('HttpCheck', 'Requests a URL.', {
        url: text('URL that is requested.', { max: 512, pattern: HTTP_URL }),
        expectStatus: int('Expected HTTP status code.', [100, 599]).default(200),
      }).optional(),
      promql: named('PromqlCheck', 'Evaluates a Prometheus query. Its value must be within min and max.', {
        query: name(
          'PromQL query of one value. In a MachineComponentSet ${batch} is a regular expression of the names of the Nodes of the open batch, and ${rest} one of those that are not updated yet.',
          1024,
        ),
        max: decimal('Maximum value.').optional(),
        min: decimal('Minimum value.').optional(),
      }).optional(),
      intervalSeconds: int('Seconds between two runs.', [5, 3600]).default(30),
      failureLimit: int('Number of failed runs that a soak tolerates.', [0, 100]).default(0),
      inconclusiveLimit: int('Number of runs without a result that a soak tolerates.', [0, 100]).default(3),
      consecutiveSuccess: int(
        'Number of runs that must have passed in a row at the end of the soak.',
        [1, 100],
      ).default(1),
    },
  ),
  {
    rule: '[has(self.builtin), has(self.http), has(self.promql)].exists_one(x, x)',
    message: 'give exactly one of builtin, http and promql',
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

/** The results of the checks of a soak, as they are remembered. */
export function gateRuns(sentence: string): Schema {
  return listMap(
    sentence,
    ['name'],
    named('GateRuns', 'Results of one check.', {
      name: name('Name of the check.'),
      asked: text('Digest of what the check asks. The results of a check that was changed do not count.', {
        max: 64,
      }).optional(),
      ranAt: time('When it last ran.').optional(),
      result: choice('Result of the last run.', ['Passed', 'Failed', 'Unknown']).optional(),
      consecutive: int('Last runs in a row with this result.').optional(),
      failures: count('Runs that failed.'),
      inconclusive: count('Runs without a result.'),
      message: message().optional(),
    }),
    [0, 16],
  );
}

const condition = named('Condition', 'An observation of the state of the object: metav1.Condition.', {
  type: text('Type of the condition.', { max: 316, min: 1, pattern: QUALIFIED_NAME }),
  status: choice('Status of the condition. Unknown is never good.', ['True', 'False', 'Unknown']),
  observedGeneration: bigInt('Generation of the spec that the condition is about.').optional(),
  lastTransitionTime: time('When the status last changed.'),
  reason: text('CamelCase reason of the status, for programs.', {
    max: 64,
    min: 1,
    pattern: CONDITION_REASON,
  }),
  message: message('Explanation for people.', 1024),
});

/** The first fields of every status. `phases` are the columns of the phase table of the kind. */
export function statusHead(phases: readonly [string, ...string[]]): Fields {
  return {
    observedGeneration: bigInt('Generation of the spec that this status is about.').optional(),
    phase: choice('Summary of the conditions for people. Programs read the conditions.', phases).optional(),
    conditions: listMap(
      'Current conditions, each with its own observedGeneration.',
      ['type'],
      condition,
      [0, 32],
    ).default([]),
  };
}

const secretKey = text('Key in the Secret.', { max: 253, min: 1 });

const secretName = text('Name of the Secret.', { max: NAME_MAX, min: 1, pattern: OBJECT_NAME });

/** A reference to a key of a Secret in the namespace kubenode-system. Listed in secrets/references.ts. */
export function secretRef(use: SecretUse, sentence: string): Schema {
  return named('SecretRef', 'A Secret in the namespace kubenode-system.', {
    name: secretName,
    key: secretKey.optional(),
  }).describe(`${sentence} ${annotationText(use)}`);
}

interface KeyedRef {
  /** Each default needs a type name of its own. */
  readonly type: string;
  readonly key: string;
}

/** As `secretRef`, with a default key. */
export function secretRefWithKey({ type, key }: KeyedRef, use: SecretUse, sentence: string): Schema {
  return named(type, 'A Secret in the namespace kubenode-system.', {
    name: secretName,
    key: secretKey.default(key),
  }).describe(`${sentence} ${annotationText(use)}`);
}

/** As `secretRef`, for a Secret whose keys are fixed. */
export function secretRefWithoutKey(type: string, use: SecretUse, sentence: string): Schema {
  return named(type, 'A Secret in the namespace kubenode-system.', { name: secretName }).describe(
    `${sentence} ${annotationText(use)}`,
  );
}

const SENT: readonly SecretUse[] = ['git', 'git-status', 'git-push', 'bmc'];

function annotationText(use: SecretUse): string {
  const value = SENT.includes(use) ? `${use}; HOST` : use;
  return `It needs the annotation ${ANNOTATION_SECRET_USE}: "${value}".`;
}

export function count(sentence: string): Schema {
  return int(sentence).optional();
}

const unhealthyMachine = named('UnhealthyMachine', 'A machine that is unhealthy.', {
  name: name('Name of the Machine.', 253),
  phase: choice('What is wrong with it.', UNHEALTHY_PHASES),
});

/** As the Defender of a cluster counts them, and as sync records them in the hub. */
export function machineCounts(sentence: string): Schema {
  return named('MachineCounts', 'How the machines of a cluster are.', {
    total: count('All machines.'),
    ready: count('Machines that are Ready.'),
    upToDate: count('Machines that run their assigned component versions.'),
    failed: count('Machines on which a component failed.'),
    unhealthy: count(`Machines that are ${UNHEALTHY_PHASES.join(', ')}.`),
    unhealthyMachines: list('The first unhealthy machines.', unhealthyMachine, [0, 20]).optional(),
  })
    .optional()
    .describe(sentence);
}
