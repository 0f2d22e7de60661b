/** Every version of every component. Those that no machine runs any more may go; sync keeps what is still needed. */
import type { MachineComponentSpec } from 'kubenode/constructs';
import { kubelet, kubeletReleases } from './kubelet.ts';
import { nodeExporter, nodeExporterReleases } from './node-exporter.ts';
import { nodeTuning } from './node-tuning.ts';

export const components: readonly MachineComponentSpec[] = [
  ...kubeletReleases.map(kubelet),
  ...nodeExporterReleases.map(nodeExporter),
  nodeTuning,
];
