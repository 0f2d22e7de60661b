/** `kubenode rules explain`: what each rule answers on a node now, and which values decided. */
import { Command } from 'commander';
import { NODE_REMEDIERS } from '../../../api/generated/resources.ts';
import { workloadFact } from '../../../rules/facts/workload.ts';
import { COLUMNS } from '../../../views/text/wrap.ts';
import { addConnectionOptions, type ConnectionFlags } from '../../connection.ts';
import { CliError, EXIT } from '../../errors.ts';
import { withNodeFacts } from '../../fleet/node-facts.ts';
import { collect, withCluster } from '../../fleet/read.ts';
import {
  formatLeaves,
  formatRules,
  isReadBy,
  queriesReadBy,
  type RuleView,
  sortViews,
  viewRule,
  viewsReadWhole,
} from '../../fleet/rule-explanation.ts';
import type { Io } from '../../io.ts';
import { createOutputOption, type OutputFormat, printResult } from '../../output.ts';
import { addCheckOptions, type CheckFlags, prometheusOf } from '../../programs/check-options.ts';

const HELP = `
Evaluates each NodeRemedier of the cluster on one node, with the code of the controllers and the objects of the cluster as they are
now. WHY has the values that decided; --rule lists every comparison of one rule. It changes nothing and works while the controllers
are down. How long a condition lasts counts from what the controllers recorded in status.faults of the Machine; without a record from
the last transition in the condition, by the clock of its writer. With --prometheus-url also what rules read of
Prometheus is asked, once. Whether a repair would be permitted: kubenode why node NAME.

Examples:
  kubenode rules explain node-a17
  kubenode rules explain node-a17 --rule kernel-hang`;

interface ExplainFlags extends ConnectionFlags, CheckFlags {
  readonly output: OutputFormat;
  readonly rule?: string;
}

export function createRulesExplainCommand(io: Io): Command {
  const command = new Command('explain')
    .description('show what each rule answers on a node, and the facts that decided')
    .argument('<machine>', 'name of the Node and its Machine')
    .option('--rule <name>', 'only this NodeRemedier, with every comparison')
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(addCheckOptions(command, 'rules')).action((name: string, flags: ExplainFlags) =>
    withCluster(io, flags, async (client) => {
      const remediers = await collect(client, NODE_REMEDIERS, { signal: io.signal }, (each) => each);
      const asked = remediers.filter(({ metadata }) => (flags.rule ?? metadata.name) === metadata.name);
      if (flags.rule !== undefined && asked.length === 0) throw unknownRule(flags.rule, client.server);
      const whole = viewsReadWhole(asked);
      const pods = isReadBy(workloadFact.name, asked);
      const metrics = { prometheus: prometheusOf(io, flags), queries: queriesReadBy(asked) };
      const views = await withNodeFacts(io, client, { name, whole, pods, metrics }, async (node) => {
        const found: RuleView[] = [];
        for (const remedier of asked) found.push(await viewRule(remedier, node));
        return found;
      });
      print(io, name, views, flags);
    }),
  );
}

function unknownRule(name: string, where: string): CliError {
  return new CliError(`NodeRemedier ${name} does not exist in this cluster`, {
    where,
    hint: 'list them with: kubectl get noderemediers',
    exitCode: EXIT.badInput,
  });
}

function print(io: Io, machine: string, views: readonly RuleView[], { output, rule }: ExplainFlags): void {
  if (output !== 'table') {
    printResult(io, output, { machine, rules: sortViews(views) }, () => ({ columns: [], rows: [] }));
    return;
  }
  const columns = io.screen()?.columns ?? COLUMNS;
  io.out(formatRules(views, columns));
  const [one] = views;
  if (rule !== undefined && one) io.out(`\n${formatLeaves(one, columns)}`);
}
