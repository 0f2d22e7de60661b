/** Stand-ins for kubelets: each brings a Node to Ready, and runs no containers. Pods on it are reported as running. */
import type { MachineComponentSpec } from 'kubenode/constructs';
import local from './local.json' with { type: 'json' };

export const kubelets = local.kubelets as readonly MachineComponentSpec[];
