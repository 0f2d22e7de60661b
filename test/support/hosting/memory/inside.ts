/** The inside of the control planes in memory. */
import { API_SERVERS } from '../../../../src/controllers/hosting/drivers/driver.ts';
import type { ClusterInside, InsideReport } from '../../../../src/controllers/hosting/inside/execute.ts';
import { optional } from '../../../../src/kube/objects/optional.ts';
import type { MemoryPlane, ProgramFaults } from './plane.ts';
import { documentIn, followMemory } from './rotation.ts';
import { isServing } from './servers.ts';

/** The kubeconfig of the administrator is the name of the cluster. */
export function memoryInside(
  planes: ReadonlyMap<string, MemoryPlane>,
  log: string[],
  faults: ProgramFaults,
): ClusterInside {
  return {
    read: async (name): Promise<InsideReport> => {
      const plane = planes.get(name);
      if (!plane || !isServing(plane)) throw new Error('connection refused');
      const controllersLead = plane.running.has('kubenode-controllers');
      return {
        isInstalled: plane.isInstalled,
        controllersLead,
        machines: plane.machines,
        machineSets: plane.machineSets,
        ...optional('authorities', plane.published),
        ...optional('endpoint', plane.endpoint),
      };
    },
    canary: async (kubeconfig) => {
      const [name = '', server = 'kube-apiserver'] = kubeconfig.split('/');
      const member = API_SERVERS.find((each) => each === server) ?? 'kube-apiserver';
      const plane = planes.get(name);
      if (!plane?.running.has(member)) return { problem: 'connection refused' };
      const isRefused = faults.get(`${member} ${plane.processes.get(member)?.version}`) === 'refuses';
      return isRefused ? { problem: 'the write was refused' } : 'Passed';
    },
    clients: async (name) => {
      const plane = planes.get(name);
      if (!plane || !isServing(plane)) throw new Error('connection refused');
      return { nodes: plane.nodes, machines: plane.agents, tokens: plane.tokens };
    },
    install: async (name) => {
      const plane = planes.get(name);
      if (!plane || plane.isInstalled) return;
      plane.isInstalled = true;
      log.push(`install ${name}`);
    },
    publish: async (name, authorities) => {
      const plane = planes.get(name);
      if (!plane) return;
      plane.published = authorities;
      plane.agents = plane.agents.map((agent) => followMemory(agent, authorities));
      log.push(`publish ${name} ${documentIn(authorities).phase}`);
    },
    setEndpoint: async (name, address) => {
      const plane = planes.get(name);
      if (!plane) return;
      if (plane.refusesEndpoint === true) throw new Error('a policy refuses it');
      plane.endpoint = address;
      log.push(`endpoint ${name} ${address ? `${address.host}:${address.port}` : 'none'}`);
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
