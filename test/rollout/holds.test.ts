import { describe, expect, it } from 'vitest';
import { holdInForce } from '../../src/rollout/holds.ts';
import { ago, machine, NOW, node } from '../support/builders.ts';

const spec = (scope: 'All' | 'Disruptive', until?: string) => ({
  hold: { reason: 'spec', scope, ...(until === undefined ? {} : { until }) },
});
const annotated = (text: string) => ({ annotations: { 'kubenode.dev/hold': text } });

describe('holdInForce', () => {
  it.each([
    ['finds none', machine('m'), undefined, undefined],
    ['finds that of the spec', machine('m', { spec: spec('Disruptive') }), undefined, 'spec Disruptive'],
    ['takes one that has ended for none', machine('m', { spec: spec('All', ago(1)) }), undefined, undefined],
    ['takes one that has not ended', machine('m', { spec: spec('All', ago(-1)) }), undefined, 'spec All'],
    [
      'takes an end that cannot be read for no end',
      machine('m', { spec: spec('All', 'soon') }),
      undefined,
      'spec All',
    ],
    [
      'reads the annotation of the Machine',
      machine('m', { metadata: annotated(`${ago(-60)}; disk`) }),
      undefined,
      'disk All',
    ],
    ['reads the annotation of the Node', machine('m'), node('m', 'True', annotated('; disk')), 'disk All'],
    [
      'ends with the time of the annotation',
      machine('m', { metadata: annotated(`${ago(1)}; disk`) }),
      undefined,
      undefined,
    ],
    [
      'takes text without a time for a hold without an end',
      machine('m', { metadata: annotated('debugging') }),
      undefined,
      'debugging All',
    ],
    [
      'reads that of the owner of the instance, which has no end',
      machine('m', { metadata: { annotations: { 'kubenode.dev/owner-hold': 'ClusterPaused: c' } } }),
      undefined,
      'ClusterPaused: c Disruptive',
    ],
    [
      'prefers the one that forbids more',
      machine('m', { spec: spec('Disruptive'), metadata: annotated('; disk') }),
      undefined,
      'disk All',
    ],
  ])('%s', (_, object, its, want) => {
    const hold = holdInForce(object, its, NOW);
    expect(hold && `${hold.reason} ${hold.scope}`).toBe(want);
  });
});
