/** `kubenode local`: control planes on this machine, for evaluation and development. */
import { Command } from 'commander';
import type { Io } from '../../io.ts';
import { createDownCommand } from './down.ts';
import { createKubeconfigCommand } from './kubeconfig.ts';
import { createLocalKubeletCommand } from './kubelet.ts';
import { createLocalStatusCommand } from './status.ts';
import { createUpCommand } from './up.ts';

export function createLocalCommand(io: Io): Command {
  return new Command('local')
    .description('manage clusters on this machine: real control planes, and nodes of a stand-in kubelet')
    .addCommand(createUpCommand(io))
    .addCommand(createLocalStatusCommand(io))
    .addCommand(createKubeconfigCommand(io))
    .addCommand(createLocalKubeletCommand(io))
    .addCommand(createDownCommand(io));
}
