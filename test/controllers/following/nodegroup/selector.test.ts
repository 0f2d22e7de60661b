import { describe, expect, it } from 'vitest';
import { nodeGroupSelector } from '../../../../src/controllers/following/nodegroup/selector.ts';

describe('the labels that name the Nodes of node groups', () => {
  it.each([
    'eks.amazonaws.com/nodegroup',
    'cloud.google.com/gke-nodepool in (general,gpu)',
    'group=workers,kubernetes.io/arch=arm64',
    'group=workers,!spot',
  ])('CAP-16 may be a label that some Nodes have: %s', (text) => {
    expect(nodeGroupSelector(text)).toMatchObject({ text });
  });

  it.each(['', ' ', 'a b', 'group=workers,', 'group in workers', 'group=wörkers'])(
    'CAP-16 are refused when they are not valid: "%s"',
    (text) => {
      expect(nodeGroupSelector(text)).toMatch(/^expected labels as kubectl takes them, .* got "/);
    },
  );

  it.each(['!spot', 'tier!=infra', 'tier notin (a,b)', 'kubernetes.io/os=linux', 'kubernetes.io/hostname'])(
    'CAP-16 are refused when all Nodes may match: %s',
    (text) => {
      expect(nodeGroupSelector(text)).toMatch(/^expected a label that only the Nodes of node groups have/);
    },
  );
});
