/** The inside of the control planes in memory. */
import type { ClusterInside, InsideReport } from '../../../../src/controllers/hosting/inside/execute.ts';
import type { MemoryPlane } from './plane.ts';

/** The kubeconfig of the administrator is the name of the cluster. */
export function memoryInside(planes: ReadonlyMap<string, MemoryPlane>, log: string[]): ClusterInside {
  return {
    read: async (name): Promise<InsideReport> => {
      const plane = planes.get(name);
      if (!plane?.running.has('kube-apiserver')) throw new Error('connection refused');
      const controllersLead = plane.running.has('kubenode-controllers');
      return {
        isInstalled: plane.isInstalled,
        controllersLead,
        machines: plane.machines,
        machineSets: plane.machineSets,
      };
    },
    canary: async (name) =>
      planes.get(name)?.running.has('kube-apiserver') === true ? 'Passed' : { problem: 'connection refused' },
    clients: async (name) => {
      const plane = planes.get(name);
      if (!plane?.running.has('kube-apiserver')) throw new Error('connection refused');
      return { nodes: plane.nodes, tokens: plane.tokens };
    },
    install: async (name) => {
      const plane = planes.get(name);
      if (!plane || plane.isInstalled) return;
      plane.isInstalled = true;
      log.push(`install ${name}`);
    },
    scaleDown: async (name, sets) => {
      const plane = planes.get(name);
      if (!plane) return;
      plane.machineSets = plane.machineSets.filter((each) => !sets.includes(each));
      // Their controller deletes the machines, each with a grant.
      plane.machines = plane.machines.filter((machine) => !machine.startsWith('of-set'));
      log.push(`scale ${name} ${sets.join(' ')}`);
    },
  };
}
