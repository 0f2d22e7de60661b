/** The form of a test of policies. A test file is code of a commit: what it exports is checked like every other input. */
import { z } from 'zod';
import { DENY_REASONS } from '../../api/deny-reasons.ts';
import { FAULT_CLASSES, HOLDERS, RISKS } from '../../api/enums.ts';
import type { DefenderPolicySpec } from '../../api/generated/types.ts';
import { defenderPolicy } from '../../api/kinds/defenderpolicy.ts';
import { OTHER_ACTIONS } from '../../api/steps/actions.ts';
import { type Action, STEPS } from '../../api/steps/steps.ts';
import type { PolicyTest } from '../../api/validation/policy-tests.ts';

/** Machines of one entry: a test needs no more to reach any percentage. */
const MAX_MACHINES = 10_000;
const MAX_ENTRIES = 1000;

const text = z.string().max(253);
const name = text.min(1);
const seconds = z.number().min(0);
const flag = z.boolean().exactOptional();
const texts = z.record(name, z.string().max(1024));
const ACTIONS: readonly Action[] = [...STEPS, ...OTHER_ACTIONS];
const action = z.literal(ACTIONS);
const risk = z.literal(RISKS).exactOptional();
const holder = z.literal(HOLDERS).exactOptional();

const machines = z.strictObject({
  name,
  count: z.int().min(1).max(MAX_MACHINES).exactOptional(),
  zone: text.exactOptional(),
  pool: text.exactOptional(),
  labels: texts.exactOptional(),
  readiness: z.literal(['Ready', 'NotReady', 'Unknown']).exactOptional(),
  unknownForSeconds: seconds.exactOptional(),
  unknownFactsForSeconds: seconds.exactOptional(),
  ageSeconds: seconds.exactOptional(),
  cordoned: flag,
  taints: z.array(name).exactOptional(),
  blockingPods: texts.exactOptional(),
  foreignLeases: z.array(name).exactOptional(),
  hold: z.string().exactOptional(),
  excluded: flag,
  isControlPlane: flag,
  hasLocalData: flag,
  repairs: z.array(z.strictObject({ secondsAgo: seconds, rebooted: flag })).exactOptional(),
  allocatable: texts.exactOptional(),
});

const pods = z.strictObject({
  name,
  count: z.int().min(1).max(MAX_MACHINES).exactOptional(),
  machine: name.exactOptional(),
  requests: texts.exactOptional(),
  nodeSelector: texts.exactOptional(),
});

const member = z.strictObject({
  machine: name,
  etcd: z.literal(['Healthy', 'Unhealthy', 'Unknown']).exactOptional(),
  apiServer: z.literal(['Ready', 'NotReady', 'Unknown']).exactOptional(),
  isLeader: flag,
  needsWork: flag,
});

const facts = z.strictObject({
  machines: z.array(machines).min(1).max(MAX_ENTRIES),
  viewAgeSeconds: seconds.exactOptional(),
  apiErrorPercent: z.number().min(0).max(100).exactOptional(),
  clockSkewSeconds: z.number().exactOptional(),
  controlPlane: z.array(member).exactOptional(),
  alerts: z.record(name, z.literal(['Quiet', 'Firing', 'Unknown'])).exactOptional(),
  pods: z.array(pods).max(MAX_ENTRIES).exactOptional(),
});

const act = { machine: name, action, risk, holder, origin: name.exactOptional() };

const ledger = z.strictObject({
  acts: z
    .array(
      z.strictObject({
        ...act,
        secondsAgo: seconds.exactOptional(),
        settled: z
          .strictObject({
            secondsAgo: seconds,
            outcome: z.literal(['Succeeded', 'Failed', 'Ambiguous', 'Unused']).exactOptional(),
          })
          .exactOptional(),
      }),
    )
    .max(MAX_ENTRIES)
    .exactOptional(),
  gone: z
    .record(name, z.strictObject({ pool: text.exactOptional(), zone: text.exactOptional() }))
    .exactOptional(),
  breakers: z
    .record(name, z.strictObject({ state: z.literal(['Open', 'HalfOpen', 'NeedsPerson']) }))
    .exactOptional(),
  approvals: z.record(name, z.literal(['Approved', 'Refused'])).exactOptional(),
  recovering: flag,
});

export const policyTestSchema: z.ZodType<PolicyTest> = z.strictObject({
  name: z.string().min(1).max(256),
  expect: z.literal(['Granted', ...DENY_REASONS]),
  at: z.iso.datetime({ offset: true }).exactOptional(),
  facts,
  ledger: ledger.exactOptional(),
  ask: z.strictObject({ ...act, faultClass: z.literal(FAULT_CLASSES).exactOptional(), recovery: flag }),
});

/** The spec with the defaults of its kind. Only for a spec that the validation of the kind accepted. */
export function withPolicyDefaults(spec: unknown): DefenderPolicySpec {
  // The declaration of the kind has no types: those of its spec are generated from it.
  return defenderPolicy.spec.parse(spec) as DefenderPolicySpec;
}
