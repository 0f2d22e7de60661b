/** Every version of every component. Versions that no machine runs can be removed; sync keeps those that are still needed. */
import type { MachineComponentSpec } from 'kubenode/constructs';
import { kubelet, kubeletReleases } from './kubelet.ts';
import { nodeExporter, nodeExporterReleases } from './node-exporter.ts';
import { nodeTuning } from './node-tuning.ts';
import { problemDetector } from './problem-detector.ts';

export const components: readonly MachineComponentSpec[] = [
  ...kubeletReleases.map(kubelet),
  ...nodeExporterReleases.map(nodeExporter),
  nodeTuning,
  problemDetector,
];
