/** Runs `kubenode why`: explains why something happens to a node, or does not. Reads objects only, with the rights of the person. */
import { Argument, Command } from 'commander';
import { addConnectionOptions } from '../../connection.ts';
import { withCluster } from '../../fleet/read.ts';
import type { Io } from '../../io.ts';
import { createOutputOption } from '../../output.ts';
import { whyJob } from './job.ts';
import { type WhyFlags, whyMachine } from './machine.ts';
import { whyRelease } from './release.ts';
import { whyRollout } from './rollout.ts';

const HELP = `
For a job: what it repairs, its trace from the fault over each step to its end, the rule behind it with its commit, and what comes if it fails.
For a rollout: what the set waits for, each of its machines that is not settled at the revision, counted by reason, and the revert of its commit, if this cluster is the hub.
For a release, by its name or its commit: the stages of the commit, its trace with the clusters of each stage, the clusters that failed, and the revert of it by sync: its pull request, how far it is, and what is left to do. Ask the hub.
For a node or machine: what its peers found while its agent is silent, why it is not at the revision of its component sets, why what is pinned on it is not in force, which self-healing rules match it or are held or indeterminate and why, what each of them and the node wait for, announced maintenance, the act that is in flight on it, and whether a repair of it, or what a pin asks for, would be permitted now: each limit,
window, breaker or hold that denies it, with the acts on other machines that use up the limit.
Reads objects only, so it works while the controllers are down, and changes nothing. Exits with 0 also when everything is denied, and with 2 if you may not
read all that a machine is explained from: what is missing is named then.

Examples:
  kubenode why node node-a17
  kubenode why machine node-a17 -o json
  kubenode why rollout general-nodes
  kubenode why release fleet-4f1c2d9ab077
  kubenode why job node-a17-kernel-hang-7c1f02ab-r1-a1`;

const SUBJECTS = ['node', 'machine', 'rollout', 'release', 'job'] as const;
/** The kinds that are explained from the objects alone, without the view of the Defender. */
const OBJECTS: Readonly<Record<string, typeof whyRollout>> = {
  rollout: whyRollout,
  release: whyRelease,
  job: whyJob,
};

export function createWhyCommand(io: Io): Command {
  const command = new Command('why')
    .description(
      'explain why something happens to a machine, to a commit, in a rollout or in a repair, or does not',
    )
    .addArgument(new Argument('<kind>', 'what to explain').choices(SUBJECTS))
    .argument(
      '<name>',
      'name of the Node and its Machine, of the MachineComponentSet, of the Release or its commit, or of the job',
    )
    .addOption(createOutputOption())
    .addHelpText('after', HELP);
  return addConnectionOptions(command).action((kind: string, name: string, flags: WhyFlags) => {
    const whyObject = OBJECTS[kind];
    return whyObject
      ? withCluster(io, flags, (client) => whyObject(io, client, name, flags.output))
      : whyMachine(io, name, flags);
  });
}
