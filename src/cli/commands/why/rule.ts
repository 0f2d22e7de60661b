/** Explains the rule behind a job: whether it changed since, its text, and its ladder. Pure. */
import type { NodeRemedier, RemedyOperationJob, Rung } from '../../../api/generated/types.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { printableYaml } from '../../../kube/objects/printable.ts';
import { shortCommit } from '../../../views/text/age.ts';
import { formatField } from '../../../views/text/wrap.ts';
import { formatYaml } from '../../../views/text/yaml.ts';

export interface JobRule {
  readonly name: string;
  /** The commit of the rule that created the job; `digest` is that of the rule. */
  readonly commit: string;
  readonly digest: string;
  readonly state: 'Unchanged' | 'Changed' | 'NotFound' | 'Unknown';
  /** The rule that the cluster has now. */
  readonly present?: {
    readonly commit?: string;
    readonly rule: Pick<NodeRemedier['spec']['rule'], 'conditions' | 'gate'>;
    readonly runbook?: string;
  };
  /** The further attempts and rungs that come after this job if it fails. */
  readonly next: readonly string[];
}

export function explainRule({ spec }: RemedyOperationJob, remedier: NodeRemedier | undefined): JobRule {
  const { cause, rung, attempt } = spec;
  return {
    name: cause.remedier,
    commit: cause.commit,
    digest: cause.ruleDigest,
    state: stateOf(cause.ruleDigest, remedier),
    ...optional('present', remedier && presentRule(remedier)),
    next: remedier ? nextRungs(remedier.spec.ladder, rung.name, attempt) : [],
  };
}

function presentRule({ spec, status }: NodeRemedier): NonNullable<JobRule['present']> {
  const { conditions, gate } = spec.rule;
  return {
    ...optional('commit', status?.commit),
    rule: { conditions, ...optional('gate', gate) },
    ...optional('runbook', spec.owner.runbook),
  };
}

function stateOf(digest: string, remedier: NodeRemedier | undefined): JobRule['state'] {
  if (!remedier) return 'NotFound';
  const { ruleDigest } = remedier.status ?? {};
  if (ruleDigest === undefined) return 'Unknown';
  return ruleDigest === digest ? 'Unchanged' : 'Changed';
}

/** Lists the next attempts and rungs. Rungs are found by name: the ladder may have changed. */
function nextRungs(ladder: readonly Rung[], name: string, attempt: number): readonly string[] {
  const index = ladder.findIndex((rung) => rung.name === name);
  const own = ladder[index];
  if (!own) return [];
  const attempts = own.maxAttempts - attempt;
  const again = attempts > 0 ? [`${name} again, up to ${attempts} times`] : [];
  return [...again, ...ladder.slice(index + 1).map((rung) => `${rung.name}: ${stepNames(rung)}`)];
}

function stepNames({ plan }: Rung): string {
  return plan.map(({ step }) => step).join(', ');
}

const CHANGES: Readonly<Record<JobRule['state'], string>> = {
  Unchanged: 'the rule has not changed since',
  Changed: 'the rule has changed since; below is the present one',
  NotFound: 'the rule was removed since',
  Unknown: 'no controller has observed the present rule',
};

export function formatRule({ name, commit, state, present, next }: JobRule, columns: number): string {
  const now = present?.commit === undefined ? '' : ` (now of commit ${shortCommit(present.commit)})`;
  const fields = [
    formatField('rule', `${name} of commit ${shortCommit(commit)}: ${CHANGES[state]}${now}`, columns),
    formatField('runbook', present?.runbook ?? '', columns),
    formatField('next', next.length > 0 ? `if this fails: ${next.join('; then ')}` : '', columns),
  ].join('');
  return `\n${fields}${present ? `\n${printableYaml(formatYaml(present.rule))}` : ''}`;
}
