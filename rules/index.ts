/** The rules and policies of every cluster by name, one file each. */
import type { DefenderPolicySpec, NodeRemedierSpec } from 'kubenode/constructs';
import { diskPressure } from './disk-pressure.ts';
import { fleetDefault } from './fleet-default.ts';
import { kubeletNotReady } from './kubelet-not-ready.ts';

export const rules: Readonly<Record<string, NodeRemedierSpec>> = {
  'disk-pressure': diskPressure,
  'kubelet-not-ready': kubeletNotReady,
};

export const policies: Readonly<Record<string, DefenderPolicySpec>> = {
  'fleet-default': fleetDefault,
};
