/** Runs a test of policies with the decisions of the Defender: those of the breakers as well, by what the facts show. Pure. */

import type { DefenderPolicy } from '../../api/generated/types.ts';
import type { DenialCause } from '../../api/grants.ts';
import type { PolicyTest } from '../../api/validation/policy-tests.ts';
import { validate } from '../../api/validation/validate.ts';
import { API_VERSION } from '../../api/version.ts';
import { isRecord, textAt } from '../../kube/objects/json.ts';
import { messageOf } from '../../os/errors.ts';
import { planLedger } from '../ledger/plan.ts';
import { preparePolicies } from '../policies/prepare.ts';
import { acceptanceProblems } from '../policies/unsupported.ts';
import { testFleet } from './facts.ts';
import { replayLedger, testAsk } from './replay.ts';
import { policyTestSchema, withPolicyDefaults } from './schema.ts';

const USUAL_TIME = '2030-01-01T12:00:00Z';

/** As a file exports it. */
export interface PolicyTestCase {
  readonly policies: unknown;
  readonly test: unknown;
}

/** Why the test fails, with its name; undefined when it passes. */
export function policyTestFailure({ policies, test }: PolicyTestCase): string | undefined {
  const failure = failureOf(policies, test);
  if (failure === undefined) return undefined;
  return `policy test ${JSON.stringify(textAt(test, 'name') ?? '')}: ${failure}`;
}

function failureOf(policies: unknown, test: unknown): string | undefined {
  const parsed = policyTestSchema.safeParse(test);
  if (!parsed.success) return problemOf(parsed.error.issues);
  const found = readPolicies(policies);
  if (typeof found === 'string') return found;
  try {
    const { reason, text } = verdictOf(found, parsed.data);
    return reason === parsed.data.expect ? undefined : `expected ${parsed.data.expect}, got ${text}`;
  } catch (error) {
    return messageOf(error);
  }
}

type Issue = { readonly path: readonly PropertyKey[]; readonly message: string };

/** The first of them. */
function problemOf([issue]: readonly Issue[]): string {
  return issue ? `${issue.path.join('.')}: ${issue.message}` : 'not valid';
}

/** The policies with their defaults, or what is wrong with them. */
function readPolicies(policies: unknown): readonly DefenderPolicy[] | string {
  if (!isRecord(policies)) return 'expected policies by name';
  const objects = Object.entries(policies).map(([name, spec]) => ({
    apiVersion: API_VERSION,
    kind: 'DefenderPolicy' as const,
    metadata: { name },
    spec,
  }));
  const problems = objects.flatMap((object) =>
    validate(object).map(
      ({ path, message }) => `DefenderPolicy ${object.metadata.name}: ${path}: ${message}`,
    ),
  );
  if (problems.length > 0) return problems.join('; ');
  return objects.map(({ spec, ...object }) => ({ ...object, spec: withPolicyDefaults(spec) }));
}

interface Verdict {
  readonly reason: string;
  readonly text: string;
}

function verdictOf(all: readonly DefenderPolicy[], test: PolicyTest): Verdict {
  const now = new Date(test.at ?? USUAL_TIME);
  const policies = preparePolicies(all, acceptanceProblems);
  const facts = testFleet(test.facts, policies, now);
  const ledger = replayLedger(test, { policies, facts, now });
  const { answers } = planLedger({ ledger, policies, facts, now, epoch: ledger.epoch }, [
    { kind: 'reviewBreakers' },
    { kind: 'ask', ask: testAsk(test.ask, { facts, now }) },
  ]);
  const answer = answers[1];
  if (answer?.kind !== 'denial') return { reason: 'Granted', text: 'Granted' };
  const { reason } = answer.denial;
  return { reason, text: causeText(answer.denial) };
}

function causeText({ reason, policy, message }: DenialCause): string {
  return `${reason}${policy === undefined ? '' : ` by ${policy}`}: ${message}`;
}
