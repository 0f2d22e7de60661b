/** The rules and policies of every cluster by name, one file each. */
import type { DefenderPolicySpec, NodeRemedierSpec } from 'kubenode/constructs';
import { componentDown } from './component-down.ts';
import { deadHost } from './dead-host.ts';
import { diskPressure } from './disk-pressure.ts';
import { fleetDefault } from './fleet-default.ts';
import { kernelHang } from './kernel-hang.ts';
import { kubeletNotReady } from './kubelet-not-ready.ts';
import { maintenanceRule } from './maintenance.ts';

export const rules: Readonly<Record<string, NodeRemedierSpec>> = {
  'component-down-kubelet': componentDown('kubelet'),
  'component-down-node-exporter': componentDown('node-exporter'),
  'dead-host': deadHost,
  'disk-pressure': diskPressure,
  'kernel-hang': kernelHang,
  'kubelet-not-ready': kubeletNotReady,
  maintenance: maintenanceRule,
};

export const policies: Readonly<Record<string, DefenderPolicySpec>> = {
  'fleet-default': fleetDefault,
};
