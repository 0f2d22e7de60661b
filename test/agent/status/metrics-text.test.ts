import { describe, expect, it } from 'vitest';
import { createAgentMetrics } from '../../../src/agent/status/metrics.ts';
import { formatMetrics } from '../../../src/agent/status/metrics-text.ts';

describe('AGT-61 metrics in the text format', () => {
  it('have help, type and escaped labels', () => {
    const samples = [{ labels: { a: 'x"y\\z\n' }, value: 1 }, { value: 2.5 }];
    expect(formatMetrics([{ name: 'n', help: 'h\nh', type: 'gauge', samples }])).toBe(
      '# HELP kubenode_n h\\nh\n# TYPE kubenode_n gauge\nkubenode_n{a="x\\"y\\\\z\\n"} 1\nkubenode_n 2.5\n',
    );
  });

  it('of the agent have these names, before anything happened and after', async () => {
    const metrics = createAgentMetrics({
      isOnline: () => true,
      residentBytes: () => 7,
      certificateNotAfter: () => new Date('2030-01-01T00:00:00Z'),
    });
    metrics.observer.acted('proxy', {
      type: 'Record',
      because: '',
      record: { type: 'Settled', component: 'proxy', at: '', state: 'RolledBack', history: [] },
    });
    metrics.events.written();
    metrics.events.dropped('Forbidden');
    metrics.observer.reconciled(
      {
        components: [{ name: 'proxy', state: 'RolledBack', running: true, ready: true }],
        drift: [],
        conditions: [],
      },
      0.5,
    );
    const lines = (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(lines).toEqual([
      'kubenode_agent_transitions_total{component="proxy",result="RolledBack"} 1',
      'kubenode_agent_events_total{result="Written",because=""} 1',
      'kubenode_agent_events_total{result="Dropped",because="Forbidden"} 1',
      'kubenode_agent_reconciles_total 1',
      'kubenode_agent_reconcile_seconds_total 0.5',
      'kubenode_agent_component_state{component="proxy",state="RolledBack"} 1',
      'kubenode_agent_component_ready{component="proxy"} 1',
      'kubenode_agent_api_online 1',
      'kubenode_agent_certificate_expiry_timestamp_seconds 1893456000',
      'kubenode_agent_resident_memory_bytes 7',
    ]);
  });
});
