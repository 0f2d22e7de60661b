/** The dashboard of nodes: how busy they are, by pool and by the version of their kubelet. It needs a Prometheus that scrapes node-exporter. */
import { MACHINE_INFO } from '../metrics/machine.ts';
import { NODE_USE } from '../prometheus/utilization.ts';
import { badFrom, type Dashboard, goodFrom, now, type Panel, table, trend } from './panel.ts';
import { recorded, total } from './promql.ts';
import { UIDS } from './uids.ts';

const SHARE = 'percentunit';
/** The kubelet evicts pods when 10 % of the disk of its file system is left, and removes images before. */
const DISK = badFrom(0.8, 0.9);
const BUSY = badFrom(0.8, 0.95);
const WORST = 10;

const MEASURES = [
  { title: 'CPU', description: 'The share of the cores that works.', unit: SHARE, series: NODE_USE.cpu },
  { title: 'Memory', description: 'The share that is not available.', unit: SHARE, series: NODE_USE.memory },
  { title: 'Disk', description: 'Of the fullest file system of a node.', unit: SHARE, series: NODE_USE.disk },
  { title: 'Network', description: 'Received and sent, each node.', unit: 'Bps', series: NODE_USE.network },
] as const;

export const NODES_DASHBOARD: Dashboard = {
  uid: UIDS.nodes,
  title: 'kubenode / Nodes',
  description:
    'How busy the nodes of the chosen clusters are, by pool and by the version of their kubelet. It needs a Prometheus that scrapes node-exporter.',
  hasClusters: true,
  rows: [
    {
      question: 'Has any node too little left?',
      panels: [
        now(
          {
            title: 'Nodes measured',
            description:
              'The share of the machines with a Node that have numbers. Below 1: node-exporter is not there, or the name of its host is not that of the Node.',
            unit: SHARE,
            thresholds: goodFrom(1, 0.9),
          },
          `count(${recorded(NODE_USE.cpu)}) / ${total(MACHINE_INFO)}`,
        ),
        now(
          {
            title: 'Fullest disk',
            description: 'The node is in the table below. The kubelet evicts pods when 10 % are left.',
            unit: SHARE,
            thresholds: DISK,
          },
          `max(${recorded(NODE_USE.disk)})`,
        ),
        now(
          {
            title: 'Fullest memory',
            description: 'Of one node: its pods are near their end.',
            unit: SHARE,
            thresholds: BUSY,
          },
          `max(${recorded(NODE_USE.memory)})`,
        ),
        now(
          {
            title: 'Busiest CPU',
            description: 'Of one node, over five minutes.',
            unit: SHARE,
            thresholds: BUSY,
          },
          `max(${recorded(NODE_USE.cpu)})`,
        ),
      ],
    },
    { question: 'Which pools are busy?', panels: trendsBy('pool') },
    { question: 'Does a version of the kubelet make nodes busier?', panels: trendsBy('version') },
    {
      question: 'Which nodes are the fullest?',
      panels: [
        table(
          {
            title: 'Disk',
            description: `The ${WORST} nodes with the fullest file systems.`,
            unit: SHARE,
            thresholds: DISK,
          },
          `topk(${WORST}, ${recorded(NODE_USE.disk)})`,
        ),
        table(
          {
            title: 'Memory',
            description: `The ${WORST} nodes with the least left.`,
            unit: SHARE,
            thresholds: BUSY,
          },
          `topk(${WORST}, ${recorded(NODE_USE.memory)})`,
        ),
      ],
    },
  ],
};

function trendsBy(label: 'pool' | 'version'): readonly Panel[] {
  return MEASURES.map(({ title, description, unit, series }) =>
    trend(
      { title: `${title} by ${label}`, description: `${description} The mean of the nodes.`, unit },
      { expr: `avg by (${label}) (${recorded(series)})`, legend: `{{${label}}}` },
    ),
  );
}
