/** DefenderLedger: grants in flight, used rates, breakers. One object, changed only by compare-and-swap. */
import { count, statusHead } from '../common.ts';
import { HOLDERS, RISKS } from '../enums.ts';
import { defenderLedgerPhases } from '../phases.ts';
import {
  atomic,
  bigInt,
  choice,
  flag,
  int,
  list,
  map,
  name,
  named,
  rules,
  type Schema,
  text,
  time,
} from '../schema.ts';
import { AGE, type Kind, PHASE } from './kind.ts';

/** Maps are atomic, so that managedFields stays small. CEL reads them all, so they are always there. */
function entries(sentence: string, value: Schema, max: number): Schema {
  return atomic(map(sentence, value, max)).default({});
}

const grant = named('LedgerGrant', 'One grant.', {
  id: name('Its id.', 64),
  fence: bigInt('`seq` of the write that issued it; an executor refuses a lower one than it has seen.'),
  state: choice('Where it stands. Suspect is derived: Started and past notAfter.', [
    'Granted',
    'Started',
    'Settled',
  ]),
  holder: named('LedgerHolder', 'Who holds it.', {
    kind: choice('Its kind.', HOLDERS),
    name: name('Its name.', 253),
    origin: text('The rule or set behind it.', { max: 128 }).optional(),
    revision: text('Commit or r-<8 hex digits>.', { max: 72 }).optional(),
  }),
  action: name('What it is for.', 32),
  risk: choice('Its risk.', RISKS),
  nodeUID: text('UID of the Node.', { max: 63 }).optional(),
  keys: map('What it is counted under: zone, pool, labels.', text('The value.', { max: 128 }), 8).optional(),
  issuedAt: time('When it was given.'),
  notAfter: time('Ends the permission, not the count.'),
  renewedAt: time('When it was renewed.').optional(),
  settledAt: time('When it was given back; it counts until lingerSeconds later.').optional(),
  outcome: choice('How the act ended.', ['Succeeded', 'Failed', 'Ambiguous', 'Unused']).optional(),
});

const gone = named('LedgerGone', 'A machine that was deleted and not yet replaced.', {
  pool: text('Its pool.', { max: 128 }).optional(),
  zone: text('Its zone.', { max: 128 }).optional(),
  since: time('Since when.'),
});

const rate = named('LedgerRate', 'Used rate; a partly covered bucket counts in full.', {
  bucketSeconds: int('Length of a bucket.'),
  firstBucketAt: time('When the first bucket begins.'),
  counts: list('Acts in each bucket.', int('Acts.'), [1, 24]),
});

const breaker = named('LedgerBreaker', 'A breaker that is not closed.', {
  state: choice('Where it stands.', ['Open', 'HalfOpen', 'NeedsPerson']),
  since: time('Since when.'),
  closesAt: time('When it closes by itself.').optional(),
  trips: int('How often it opened.'),
  evidence: text('What opened it.', { max: 128 }).optional(),
  probe: text('The machine on which it is tried.', { max: 63 }).optional(),
});

const approval = named('LedgerApproval', 'What a person decided.', {
  action: name('The action.', 32),
  holder: name('Who asked.', 253),
  decision: choice('The decision.', ['Approved', 'Refused']),
  by: name('Who decided.', 128),
  at: time('When.'),
  until: time('How long it holds.'),
});

const KEEPS_STARTED =
  "oldSelf.grants.all(m, oldSelf.grants[m].state != 'Started' || (m in self.grants && self.grants[m].id == oldSelf.grants[m].id && self.grants[m].state != 'Granted'))";
const KEEPS_IDENTITY =
  "self.grants.all(m, !(m in oldSelf.grants) || self.grants[m].id != oldSelf.grants[m].id || (self.grants[m].fence == oldSelf.grants[m].fence && self.grants[m].issuedAt == oldSelf.grants[m].issuedAt && (oldSelf.grants[m].state != 'Settled' || self.grants[m].state == 'Settled')))";
const FENCES_NEW =
  'self.grants.all(m, (m in oldSelf.grants && self.grants[m].id == oldSelf.grants[m].id) || self.grants[m].fence == self.seq)';
const WELL_FORMED =
  "self.grants.all(m, timestamp(self.grants[m].issuedAt) < timestamp(self.grants[m].notAfter) && (self.grants[m].state == 'Settled') == has(self.grants[m].settledAt))";

const spec = rules(
  named('DefenderLedgerSpec', 'What was granted and used.', {
    seq: bigInt('Rises by one with each write.'),
    epoch: bigInt('Rises when another defender takes the lead.'),
    recovering: flag('Made anew or restored: everything is denied until it is rebuilt.').default(false),
    recoveringSince: time('Since when.').optional(),
    grants: entries(
      'By machine, so that a machine has one grant; a hosted control plane is cluster:<name>.',
      grant,
      512,
    ),
    gone: entries('By machine: deleted and not yet replaced; counted as unavailable.', gone, 512),
    rates: entries('By <policy>/<rule>/<key>.', rate, 128),
    breakers: entries('By <policy>/<rule>/<key>.', breaker, 64),
    approvals: entries('By machine.', approval, 64),
  }),
  {
    // Writes of status and metadata pass through here too, with a spec that did not change.
    rule: 'self == oldSelf || (self.seq == oldSelf.seq + 1 && self.epoch >= oldSelf.epoch)',
    message: 'seq must rise by one with each write, and epoch never falls: read the ledger again',
    fieldPath: '.seq',
  },
  {
    rule: 'self.recovering == has(self.recoveringSince)',
    message: 'recoveringSince must be set while recovering is true, and only then',
    fieldPath: '.recoveringSince',
  },
  {
    rule: KEEPS_STARTED,
    message: 'a grant that is started leaves the ledger only through Settled',
    fieldPath: '.grants',
    reason: 'FieldValueForbidden',
  },
  {
    rule: KEEPS_IDENTITY,
    message: 'fence and issuedAt of a grant never change, and a settled grant stays settled',
    fieldPath: '.grants',
    reason: 'FieldValueForbidden',
  },
  { rule: FENCES_NEW, message: 'a new grant has the seq of this write as its fence', fieldPath: '.grants' },
  {
    rule: 'self.rates.all(k, size(k) <= 160) && self.breakers.all(k, size(k) <= 160)',
    message: 'keys of rates and breakers may have at most 160 characters',
  },
  {
    rule: WELL_FORMED,
    message: 'a grant must end after it is issued, and has settledAt exactly when it is Settled',
    fieldPath: '.grants',
  },
);

const status = named('DefenderLedgerStatus', 'How full the ledger is.', {
  ...statusHead(defenderLedgerPhases.phases),
  grants: named('LedgerGrantCounts', 'Grants.', {
    inFlight: count('Not settled.'),
    lingering: count('Settled, and still counted.'),
    suspect: count('Started and past their end.'),
  }).optional(),
  sizeBytes: bigInt('Size of the object.').optional(),
  casConflicts: count('Writes that another one preceded.'),
});

export const defenderLedger: Kind = {
  kind: 'DefenderLedger',
  plural: 'defenderledgers',
  shortName: 'kdl',
  lives: 'cluster',
  description:
    'Grants in flight, used rates and breaker states; one object, changed only by compare-and-swap.',
  nameMax: 63,
  spec,
  status,
  rules: [
    {
      rule: "self.metadata.name == 'default'",
      message: 'there is one ledger, called default',
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
