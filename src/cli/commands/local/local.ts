/** `kubenode local`: control planes on this machine, for evaluation and development. */
import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { downCommand } from './down.ts';
import { kubeconfigCommand } from './kubeconfig.ts';
import { localStatusCommand } from './status.ts';
import { upCommand } from './up.ts';

export function localCommand(io: Io): Command {
  return new Command('local')
    .description('manage clusters on this machine: real control planes without nodes')
    .addCommand(upCommand(io))
    .addCommand(localStatusCommand(io))
    .addCommand(kubeconfigCommand(io))
    .addCommand(downCommand(io));
}
