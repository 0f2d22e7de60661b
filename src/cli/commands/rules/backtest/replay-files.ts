/** Replays files of recorded facts to rules: each line once, however many rules there are. */

import type { NodeRemedier } from '../../../../api/generated/types.ts';
import { createCheckedRules } from '../../../../controllers/remedy/checked-rules.ts';
import { createLogger } from '../../../../kube/process/logger.ts';
import { messageOf } from '../../../../os/errors.ts';
import { type ReadLine, readRecordedLines } from '../../../../rules/recording/read-lines.ts';
import { CliError, EXIT } from '../../../errors.ts';
import type { Io } from '../../../io.ts';
import { printWarnings } from '../../../output.ts';
import { type BacktestReport, createReport, gapBetween, type RecordedPeriod } from './report.ts';
import { createRuleReplay, type ReplayedRule, type RuleReplay } from './rule-replay.ts';

/** One report for each rule, in their order. */
export async function replayFiles(
  io: Io,
  files: readonly string[],
  remediers: readonly NodeRemedier[],
): Promise<readonly BacktestReport[]> {
  const log = createLogger({ level: 'error', stream: { write: (line) => io.err(line) }, clock: io.clock });
  const checked = await Promise.all(remediers.map(checkRule));
  const replays = checked.map((rule) => createRuleReplay(rule, log));
  const period = createPeriod();
  const warn = (message: string): void => printWarnings(io, [message]);
  for await (const read of readRecordedLines(files, { warn, signal: io.signal })) {
    period.add(read);
    for (const replay of replays) await applyLine(replay, read);
  }
  for (const replay of replays) await replay.end(); // oxlint-disable-line no-await-in-loop -- mostly one
  return replays.map(({ tally }, index) =>
    createReport({
      rule: remediers[index]?.metadata.name ?? '',
      recorded: period.recorded(),
      observed: period.nodes(),
      tally,
    }),
  );
}

async function checkRule(remedier: NodeRemedier): Promise<ReplayedRule> {
  const { name } = remedier.metadata;
  const { accepted, problems } = await createCheckedRules().check(remedier);
  if (accepted) return { remedier, compiled: accepted.compiled };
  const all = problems.map(({ path, message }) => `${path}: ${message}`).join('; ');
  throw new CliError(`rule ${name} is refused: ${all}`, {
    hint: 'show each problem with its line: kubenode rules test',
    exitCode: EXIT.badInput,
  });
}

async function applyLine(replay: RuleReplay, { line, atMs, where }: ReadLine): Promise<void> {
  try {
    await replay.apply(line, atMs);
  } catch (error) {
    throw new CliError(`the recording cannot be replayed: ${messageOf(error)}`, {
      where,
      cause: error,
    });
  }
}

interface PeriodTally {
  add(read: ReadLine): void;
  nodes(): number;
  recorded(): RecordedPeriod;
}

function createPeriod(): PeriodTally {
  const nodes = new Set<string>();
  const gaps: RecordedPeriod['gaps'][number][] = [];
  let [lines, cluster] = [0, ''];
  let first: number | undefined;
  let last: number | undefined;
  return {
    add: ({ line, atMs }) => {
      lines += 1;
      if (line.type === 'Started') {
        gaps.push(...gapBetween(last, atMs));
        cluster = line.cluster.server;
      }
      if (line.type === 'Put' && line.view === 'nodes') nodes.add(line.object.metadata.name);
      first ??= atMs;
      last = atMs;
    },
    nodes: () => nodes.size,
    recorded: () => {
      const [from, to] = [first ?? 0, last ?? 0].map((ms) => new Date(ms).toISOString());
      return { cluster, from: from ?? '', to: to ?? '', lines, gaps };
    },
  };
}
