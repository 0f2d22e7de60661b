/** Every version of every component. Versions that no machine runs can be removed; sync keeps those that are still needed. */
import type { MachineComponentSpec } from 'kubenode/constructs';
import { cniPlugins, cniPluginsReleases } from './cni-plugins.ts';
import { containerd, containerdReleases } from './containerd.ts';
import { crictl, crictlReleases } from './crictl.ts';
import { kubelet, kubeletReleases } from './kubelet.ts';
import { nodeExporter, nodeExporterReleases } from './node-exporter.ts';
import { nodeTuning } from './node-tuning.ts';
import { problemDetector } from './problem-detector.ts';
import { runc, runcReleases } from './runc.ts';

export const components: readonly MachineComponentSpec[] = [
  ...cniPluginsReleases.map(cniPlugins),
  ...containerdReleases.map(containerd),
  ...crictlReleases.map(crictl),
  ...kubeletReleases.map(kubelet),
  ...nodeExporterReleases.map(nodeExporter),
  nodeTuning,
  problemDetector,
  ...runcReleases.map(runc),
];
