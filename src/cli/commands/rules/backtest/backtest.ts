/** `kubenode rules backtest`: what a rule would have done with recorded facts. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import { COLUMNS } from '../../../../views/text/wrap.ts';
import type { Io } from '../../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../../output.ts';
import { findFleetRule } from './find-rule.ts';
import { replayFiles } from './replay-files.ts';
import { formatReport, withComparison } from './report.ts';

const HELP = `
Replays what \`kubenode rules record\` wrote, with the code of the controllers and without waiting: which nodes the rule of the
working tree would have matched, when and for how long, what the Defender would have been asked for, and where a fact was unknown. The
mode of the rule does not count. It contacts no cluster and changes nothing. Nothing that the rule would have done is simulated: a fault
stays as long as it was recorded. Files that end with .gz are unpacked. Exit codes: 0 replayed, 65 a file or the rule is invalid.

Examples:
  kubenode rules backtest kernel-hang --from facts.jsonl
  kubenode rules backtest kernel-hang my-fleet --from monday.jsonl.gz tuesday.jsonl
  kubenode rules backtest kernel-hang --from facts.jsonl --compare origin/main`;

interface BacktestFlags {
  readonly from: readonly string[];
  readonly path: string;
  readonly target?: string;
  readonly compare?: string;
  readonly output: OutputFormat;
}

export function createRulesBacktestCommand(io: Io): Command {
  return new Command('backtest')
    .description('show which nodes a rule would have touched, by recorded facts')
    .argument('<rule>', 'name of the NodeRemedier')
    .argument('[dir]', 'folder of the fleet repository', '.')
    .requiredOption('--from <files...>', 'recordings of one cluster, the oldest first')
    .option('--path <folder>', 'folder of the fleet in the repository (spec.source.path)', '.')
    .option('--target <name>', 'the Cluster whose form of the rule is replayed, where they differ')
    .option('--compare <revision>', 'also replay the rule of this commit, and list the nodes that differ')
    .addOption(createOutputOption())
    .addHelpText('after', HELP)
    .action(async (rule: string, dir: string, flags: BacktestFlags) => {
      await backtest(io, resolve(io.cwd, dir), rule, flags);
    });
}

async function backtest(
  io: Io,
  folder: string,
  name: string,
  { from, path, target, compare, output }: BacktestFlags,
): Promise<void> {
  const selection = { name, target };
  const rules = [await findFleetRule(io, { folder, path }, selection)];
  if (compare !== undefined) {
    rules.push(await findFleetRule(io, { folder, path, revision: compare }, selection));
  }
  const files = from.map((file) => resolve(io.cwd, file));
  const [now, before] = await replayFiles(io, files, rules);
  if (!now) return;
  const report = before && compare !== undefined ? withComparison(now, before, compare) : now;
  if (output === 'table') io.out(formatReport(report, io.screen()?.columns ?? COLUMNS));
  else printResult(io, output, report, () => ({ columns: [], rows: [] }));
}
