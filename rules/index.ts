/** The rules and policies of every cluster by name, one file each. */
import type { DefenderPolicySpec, NodeRemedierSpec } from 'kubenode/constructs';
import { clockDrift } from './clock-drift.ts';
import { componentDown } from './component-down.ts';
import { conntrackFull } from './conntrack-full.ts';
import { containerRuntimeDown } from './container-runtime-down.ts';
import { deadHost } from './dead-host.ts';
import { diskPressure } from './disk-pressure.ts';
import { flappingNotReady } from './flapping-not-ready.ts';
import { fleetDefault } from './fleet-default.ts';
import { gpuHardware, gpuXid, gpuXidReset } from './gpu-xid.ts';
import { inodeExhaustion } from './inode-exhaustion.ts';
import { kernelHang } from './kernel-hang.ts';
import { kubeletNotReady } from './kubelet-not-ready.ts';
import { maintenanceRule } from './maintenance.ts';
import { networkUnavailable } from './network-unavailable.ts';
import { oomStorm } from './oom-storm.ts';
import { readOnlyFilesystem } from './read-only-filesystem.ts';
import { serviceRestarts } from './service-restarts.ts';

export const rules: Readonly<Record<string, NodeRemedierSpec>> = {
  'clock-drift': clockDrift,
  'component-down-kubelet': componentDown('kubelet'),
  'component-down-node-exporter': componentDown('node-exporter'),
  'conntrack-full': conntrackFull,
  'container-runtime-down': containerRuntimeDown,
  'dead-host': deadHost,
  'disk-pressure': diskPressure,
  'flapping-not-ready': flappingNotReady,
  'gpu-xid-hardware': gpuHardware,
  'gpu-xid-reset': gpuXidReset,
  'gpu-xid': gpuXid,
  'inode-exhaustion': inodeExhaustion,
  'kernel-hang': kernelHang,
  'kubelet-not-ready': kubeletNotReady,
  maintenance: maintenanceRule,
  'network-unavailable': networkUnavailable,
  'oom-storm': oomStorm,
  'read-only-filesystem': readOnlyFilesystem,
  'service-restarts-containerd': serviceRestarts('containerd'),
  'service-restarts-kubelet': serviceRestarts('kubelet'),
};

export const policies: Readonly<Record<string, DefenderPolicySpec>> = {
  'fleet-default': fleetDefault,
};
