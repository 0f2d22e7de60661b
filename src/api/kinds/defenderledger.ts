/**
 * DefenderLedger: grants in flight, rate counters and breakers. A single object, written by compare-and-swap only. What a write
 * must keep of the one before is in `src/api/policies/ledger-rules.ts`.
 */
import { amount, count, machineCounts, statusHead } from '../common.ts';
import { HOLDERS, RISKS } from '../enums.ts';
import {
  atomic,
  bigInt,
  choice,
  flag,
  int,
  list,
  map,
  message,
  name,
  named,
  percent,
  rules,
  type Schema,
  text,
  time,
} from '../schema.ts';
import { defenderLedgerPhases } from '../status/phase-tables.ts';
import { allowanceFields } from './fleetallowance.ts';
import { AGE, type Kind, PHASE } from './kind.ts';

/** Atomic, so that managedFields stays small. With a default, because CEL reads all maps without `has()`. */
function entries(sentence: string, value: Schema, max: number): Schema {
  return atomic(map(sentence, value, max)).default({});
}

const grant = named('LedgerGrant', 'A grant.', {
  id: name('Id of the grant.', 64),
  fence: bigInt(
    '`seq` of the write that issued the grant. Executors refuse a fence lower than the highest one so far.',
  ),
  state: choice('State of the grant. A started grant past notAfter is suspect, which is not stored.', [
    'Granted',
    'Started',
    'Settled',
  ]),
  holder: named('LedgerHolder', 'Holder of the grant.', {
    kind: choice('Kind of the holder.', HOLDERS),
    name: name('Name of the holder.', 253),
    origin: text('Rule or set that the holder acts for.', { max: 128 }).optional(),
    revision: text('Revision: a commit or r-<8 hex digits>.', { max: 72 }).optional(),
  }),
  action: name('Action that is granted.', 32),
  risk: choice('Risk of the action.', RISKS),
  nodeUID: text('UID of the Node.', { max: 63 }).optional(),
  keys: map(
    'Zone, pool and labels under which the grant is counted.',
    text('Value.', { max: 128 }),
    8,
  ).optional(),
  issuedAt: time('When the grant was issued.'),
  notAfter: time('End of the permission. The grant still counts afterwards.'),
  renewedAt: time('When the grant was last renewed.').optional(),
  settledAt: time('When the grant was settled. It counts for lingerSeconds more.').optional(),
  outcome: choice('Outcome of the act.', ['Succeeded', 'Failed', 'Ambiguous', 'Unused']).optional(),
  ruleDigest: text('Version of the rule that asked, by what it does.', { max: 64 }).optional(),
});

const gone = named('LedgerGone', 'A machine that was deleted and is not yet replaced.', {
  pool: text('Pool of the machine.', { max: 128 }).optional(),
  zone: text('Zone of the machine.', { max: 128 }).optional(),
  since: time('When the state began.'),
});

const rate = named(
  'LedgerRate',
  'Acts of a rate limit in time buckets. A partly covered bucket counts in full.',
  {
    bucketSeconds: int('Length of a bucket.'),
    firstBucketAt: time('Start of the first bucket.'),
    counts: list('Number of acts in each bucket.', int('Number of acts.'), [1, 24]),
  },
);

const breaker = named('LedgerBreaker', 'A breaker that is not closed.', {
  state: choice('State of the breaker.', ['Open', 'HalfOpen', 'NeedsPerson']),
  since: time('When the state began.'),
  closesAt: time('Earliest time at which the breaker closes.').optional(),
  trips: int('Number of times that it opened.'),
  evidence: text('What opened it.', { max: 128 }).optional(),
  probe: text('Machine that is used as probe.', { max: 63 }).optional(),
});

const approval = named('LedgerApproval', 'Decision of a person.', {
  action: name('Action that was decided.', 32),
  risk: choice('Risk of the action. Another risk needs another answer.', RISKS).optional(),
  holder: name('Holder that asked.', 253),
  holderKind: choice('Kind of the holder.', HOLDERS).optional(),
  decision: choice('The decision.', ['Approved', 'Refused']),
  by: name('User who decided.', 128),
  reason: text('Why, in the words of the user.', { max: 256 }).optional(),
  at: time('When it was decided.'),
  until: time('End of the decision.'),
});

const terms = named('LedgerRuleWaves', 'Terms that the waves of a rule are judged by.', {
  waves: list('Machines of each wave.', amount('Number of machines.'), [1, 8]),
  soakSeconds: int('How long a wave soaks after its last repair.'),
  minSuccessPercent: percent('Minimum percentage of successful repairs.'),
});

const rule = named('LedgerRule', 'How far a rule is proven.', {
  digest: text('Version of the rule, by what it does.', { max: 64 }),
  proven: list(
    'Versions whose waves all passed, the last one last.',
    text('A version.', { max: 64 }),
    [0, 4],
  ),
  wave: int('Number of the wave.', [1, 8]),
  since: time('When the wave began.'),
  heardAt: time('When the rule was announced, to a day.'),
  succeeded: int('Repairs of the wave that were verified.'),
  failed: list(
    'Machines of the wave whose last repair failed.',
    text('Name of a machine.', { max: 63 }),
    [0, 64],
  ),
  moreFailed: int('Failed repairs on machines that are not named.'),
  endedAt: time('When the last repair of the wave ended.').optional(),
  opensAt: time('When the first repair may begin after a version that was not proven.').optional(),
  terms,
});

const closure = named('LedgerClosure', 'A breaker that a person closed.', {
  by: name('User who closed it.', 128),
  reason: text('Why, in the words of the user.', { max: 256 }),
  at: time('When it was closed.'),
});

const spec = rules(
  named('DefenderLedgerSpec', 'Grants and counters of the Defender.', {
    seq: bigInt('Increases by one with each write.'),
    epoch: bigInt('Increases when another Defender becomes leader.'),
    recovering: flag(
      'Whether the ledger was lost or restored. Everything is denied until it is rebuilt.',
    ).default(false),
    recoveringSince: time('When the recovery began.').optional(),
    grants: entries(
      'Grants by machine, so that a machine has one grant. A hosted control plane has the key cluster:<name>.',
      grant,
      512,
    ),
    gone: entries(
      'Machines that were deleted and are not yet replaced. They count as unavailable.',
      gone,
      512,
    ),
    rates: entries('Counters of rate limits by <policy>/<limit>/<key>.', rate, 128),
    breakers: entries('Breakers that are not closed, by <policy>/<breaker>/<key>.', breaker, 64),
    approvals: entries('Decisions of people by machine.', approval, 64),
    closures: atomic(
      map('Breakers that people closed last, by <policy>/<breaker>/<key>.', closure, 16),
    ).optional(),
    rules: atomic(map('How far rules are proven, by the name of the rule.', rule, 256)).optional(),
    allowance: atomic(
      named(
        'LedgerAllowance',
        'The allowance of the hub that decisions keep to. Every process decides by it.',
        {
          ...allowanceFields(),
          adoptedAt: time('When it was adopted.'),
        },
      ),
    ).optional(),
    ruleTerms: named('LedgerRuleTerms', 'Terms for rules that change now.', {
      inForce: terms,
      looser: terms.optional(),
      looserSince: time(
        'When the looser terms were first observed. They are in force a day later.',
      ).optional(),
    }).optional(),
  }),
  {
    rule: 'self.recovering == has(self.recoveringSince)',
    message: 'recoveringSince must be set while recovering is true, and only then',
    fieldPath: '.recoveringSince',
  },
  {
    rule: 'self.rates.all(k, size(k) <= 160) && self.breakers.all(k, size(k) <= 160)',
    message: 'keys of rates and breakers may have at most 160 characters',
  },
);

const status = named('DefenderLedgerStatus', 'Use of the ledger.', {
  ...statusHead(defenderLedgerPhases.phases),
  grants: named('LedgerGrantCounts', 'Grant counts.', {
    inFlight: count('Grants that are not settled.'),
    lingering: count('Settled grants that still count.'),
    suspect: count('Started grants past their end.'),
  }).optional(),
  sizeBytes: bigInt('Size of the object in bytes.').optional(),
  casConflicts: count('Writes that failed because of a concurrent write.'),
  machines: machineCounts('Machines of the cluster. Absent: they are not all known.'),
  approvals: list(
    'Acts that were denied until a person approves them, the first 20.',
    named('LedgerPendingApproval', 'An act that waits for the answer of a person.', {
      machine: name('Machine of the act.', 253),
      action: name('Action that was asked for.', 32),
      risk: choice('Risk of the action.', RISKS),
      holder: named('LedgerPendingHolder', 'Who asked.', {
        kind: choice('Kind of the holder.', HOLDERS),
        name: name('Name of the holder.', 253),
      }),
      since: time('When it was first asked for.'),
      message: message().optional(),
    }),
    [0, 20],
  ).optional(),
});

export const defenderLedger: Kind = {
  kind: 'DefenderLedger',
  plural: 'defenderledgers',
  shortName: 'kdl',
  lives: 'cluster',
  description:
    'Grants in flight, rate counters and breaker states. A single object, written by the Defender only.',
  nameMax: 63,
  spec,
  status,
  rules: [
    {
      rule: "self.metadata.name == 'default'",
      message: 'the only ledger is named default',
      fieldPath: '.metadata.name',
    },
  ],
  columns: [
    PHASE,
    { name: 'InFlight', path: '.status.grants.inFlight', type: 'integer' },
    { name: 'Lingering', path: '.status.grants.lingering', type: 'integer' },
    { name: 'Suspect', path: '.status.grants.suspect', type: 'integer' },
    { name: 'Seq', path: '.spec.seq', type: 'integer' },
    { name: 'Size', path: '.status.sizeBytes', type: 'integer' },
    AGE,
  ],
  phases: defenderLedgerPhases,
};
