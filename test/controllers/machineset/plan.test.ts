import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MachineSet } from '../../../src/api/generated/types.ts';
import { planMachineSet } from '../../../src/controllers/machineset/plan.ts';
import { ago, NOW } from '../../support/builders.ts';
import { explainPlan, machineSet, members, template } from '../../support/machine-sets.ts';

describe('planMachineSet', () => {
  describe('template', () => {
    const NO_EXECUTE = [{ key: 'gpu', effect: 'NoExecute' }] as const;
    it.each<[name: string, changed: Partial<MachineSet['spec']['template']>, want: string]>([
      ['writes labels', { labels: { pool: 'other' } }, 'Update #0: labels differ from the template'],
      [
        'writes labels of the Node',
        { node: { labels: { a: 'b' }, taints: [] } },
        'Update #0: node.labels differ from the template',
      ],
      [
        'writes annotations and taints of the Node',
        {
          node: {
            labels: { pool: 'general' },
            annotations: { a: 'b' },
            taints: [{ key: 'gpu', effect: 'NoSchedule' }],
          },
        },
        'Update #0: node.annotations, node.taints differ from the template',
      ],
      [
        'writes how a machine is deleted',
        { deletion: { ...template().deletion, drain: 'Skip' } },
        'Update #0: deletion differ from the template',
      ],
      [
        'MAC-32 leaves the instance of a machine alone',
        { infra: { provider: 'local', config: { image: 'b' } } },
        '',
      ],
      ['MAC-32 leaves the host of a machine alone', { host: { type: 'systemd' } }, ''],
      ['MAC-32 evicts no pods by a taint', { node: { labels: { pool: 'general' }, taints: NO_EXECUTE } }, ''],
    ])('%s', (_, changed, want) => {
      expect(
        explainPlan(
          machineSet(1, { spec: { template: template(changed) } }),
          members(machineSet(1), 'ready'),
        ),
      ).toBe(want);
    });

    it('MAC-32 changes and deletes nothing with OnDelete, and replaces what a person deletes', () => {
      const changed = template({
        labels: { pool: 'x' },
        infra: { provider: 'local', config: { image: 'b' } },
      });
      const updateStrategy = { type: 'OnDelete', maxUnavailable: 1 } as const;
      const set = machineSet(3, { spec: { template: changed, updateStrategy } });
      expect(explainPlan(set, members(machineSet(3), 'ready ready ready'))).toBe('');
      const one = members(machineSet(3), 'ready ready leaving');
      expect(explainPlan(set, one)).toBe('Create #3: 2 of 3 machines exist');
    });

    it('writes nothing to a machine that is held with scope All', () => {
      const set = machineSet(2, { spec: { template: template({ labels: {} }) } });
      const owned = {
        manager: 'kubenode-machineset',
        operation: 'Apply',
        fieldsV1: { 'f:metadata': { 'f:labels': { 'f:pool': {} } } },
      } as const;
      const machines = members(machineSet(2), 'frozen held', { metadata: { managedFields: [owned] } });
      expect(explainPlan(set, machines)).toBe('Update #1: labels differ from the template');
    });

    it('writes nothing while paused, and to no machine of a set that is deleted', () => {
      const changed = { template: template({ labels: {}, node: { taints: [] } }) };
      const paused = machineSet(1, { spec: { ...changed, paused: true } });
      const deleted = machineSet(1, { spec: changed, metadata: { deletionTimestamp: ago(1) } });
      expect(explainPlan(paused, members(machineSet(1), 'ready'))).toBe('wait Paused: spec.paused is true');
      expect(explainPlan(deleted, members(machineSet(1), 'leaving ready'))).not.toContain('Update');
    });

    it('leaves labels that a person added', () => {
      const labels = {
        team: 'x',
        pool: 'general',
        'kubenode.dev/machineset': 'general',
        'app.kubernetes.io/managed-by': 'kubenode',
      };
      const set = machineSet(1);
      expect(explainPlan(set, members(set, 'ready', { metadata: { labels } }))).toBe('');
    });

    it('MAC-32 never deletes a machine because of any change of the template with InPlace or OnDelete', () => {
      const text = fc.constantFrom('a', 'b');
      const anyTemplate = fc.record({
        labels: fc.dictionary(text, text),
        infra: fc.record({ provider: fc.constant('local' as const), config: fc.dictionary(text, text) }),
        host: fc.record({ type: fc.constantFrom('systemd' as const, 'sandbox' as const) }),
        node: fc.record({
          labels: fc.dictionary(text, text),
          annotations: fc.dictionary(text, text),
          taints: fc.array(
            fc.record({ key: text, effect: fc.constantFrom('NoSchedule' as const, 'NoExecute' as const) }),
            { maxLength: 2 },
          ),
        }),
        deletion: fc.constant(template().deletion),
      });
      const anyType = fc.constantFrom('InPlace' as const, 'OnDelete' as const);
      fc.assert(
        fc.property(anyTemplate, anyType, (changed, type) => {
          const set = machineSet(4, {
            spec: { template: changed, updateStrategy: { type, maxUnavailable: 4 } },
          });
          const { actions } = planMachineSet({
            set,
            machines: members(machineSet(4), 'ready ill new held'),
            now: NOW,
          });
          expect(actions.filter((action) => action.type !== 'Update')).toEqual([]);
        }),
      );
    });
  });
});
