import { expect, it } from 'vitest';
import { formatRollouts } from '../../../../src/cli/commands/rollout/list.ts';
import { viewRollout } from '../../../../src/views/rollout/view.ts';
import { NOW } from '../../../support/builders.ts';
import { STORIES, type Story } from './stories.ts';

const WIDE = { columns: 300 };

function rowOf(story: Story): string {
  const [, row = ''] = formatRollouts(
    [{ ...viewRollout(STORIES[story], []), cluster: 'test' }],
    NOW,
    WIDE,
  ).split('\n');
  return row.replaceAll(/ {2,}/g, '  ').trim();
}

it.each<[Story, string]>([
  ['its end', 'general-nodes  Completed  60m  -  16/16  0'],
  [
    'machines that are behind since its end',
    'general-nodes  Completed  2h  -  0/3  0  kubelet 1.31.4, node-exporter 1.8.2 completed before; now 0 of 3 machines run kubelet 1.31.4; m-01: the agent is silent; also not: m-02, m-03',
  ],
  ['a batch in work', 'general-nodes  Rolling  4m  2/3  3/16  0  batch 2 is full'],
])('kubenode rollout list shows %s', (story, row) => {
  expect(rowOf(story)).toBe(row);
});
