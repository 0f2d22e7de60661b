/** `kubenode why job`: a repair with the rule behind it, as it is now, and what comes after this rung. */
import { NODE_REMEDIERS, REMEDY_OPERATION_JOBS } from '../../../api/generated/resources.ts';
import type { NodeRemedier } from '../../../api/generated/types.ts';
import type { Client } from '../../../kube/client/client.ts';
import { unlessMissing } from '../../../kube/client/errors.ts';
import { repairTrace } from '../../../observability/trace/sources/repair.ts';
import { viewJob } from '../../../views/repair/job.ts';
import { formatJobSummary } from '../../../views/repair/show.ts';
import { COLUMNS } from '../../../views/text/wrap.ts';
import { readNamed } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';
import { type OutputFormat, printResult } from '../../output.ts';
import { explainRule, formatRule } from './rule.ts';
import { formatTrace } from './trace.ts';

export async function whyJob(io: Io, client: Client, name: string, output: OutputFormat): Promise<void> {
  const job = await readNamed(client, REMEDY_OPERATION_JOBS, name, io.signal);
  const rule = explainRule(job, await readRule(client, job.spec.cause.remedier, io.signal));
  const view = viewJob(job);
  const trace = repairTrace(job);
  if (output !== 'table') {
    printResult(io, output, { ...view, rule, trace }, () => ({ columns: [], rows: [] }));
    return;
  }
  const columns = io.screen()?.columns ?? COLUMNS;
  const now = io.clock.now();
  io.out(`${formatJobSummary(view, now, columns)}\n${formatTrace(trace, now, columns)}`);
  io.out(formatRule(rule, columns));
}

/** Undefined: git has removed it since. */
async function readRule(
  client: Client,
  name: string,
  signal: AbortSignal,
): Promise<NodeRemedier | undefined> {
  return await unlessMissing(client.get<NodeRemedier>(NODE_REMEDIERS, { name }, { signal }));
}
