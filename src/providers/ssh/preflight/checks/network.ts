/** Checks the names, ports and servers of a host, and that it is only one. Pure. */
import { adoptedNode, fail, type PreflightCheck, passed, unknown, warn } from '../check.ts';

/** The ports of the programs of a node. */
const PORTS: Readonly<Record<number, string>> = {
  10250: 'kubelet',
  10248: 'health of the kubelet',
  10256: 'health of kube-proxy',
};
/** The names that a Node and its Machine can both have. */
const NODE_NAME = /^(?=.{1,63}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
const MACHINE_ID = /^[0-9a-f]{32}$/;

const hostName: PreflightCheck = ({ facts: { hostName: name }, nameTakenReason }) => {
  if (name === undefined) return unknown('the host name');
  const hint = 'set another one: hostnamectl set-hostname NAME';
  if (name === 'localhost' || name.startsWith('localhost.')) return fail(name, hint);
  if (nameTakenReason !== undefined) return fail(`${name}: ${nameTakenReason}`, hint);
  if (NODE_NAME.test(name)) return passed(name);
  return fail(`${name} cannot be the name of a Node`, `${hint} (lower case letters, digits, "-" and ".")`);
};

const machineId: PreflightCheck = ({ facts: { machineId: id } }) => {
  const hint = 'run systemd-machine-id-setup, and reboot';
  if (id === undefined) return fail('no /etc/machine-id', hint);
  return MACHINE_ID.test(id) ? passed(id) : fail(`${id} is not a machine id`, hint);
};

const duplicateHost: PreflightCheck = ({ duplicate }) => duplicate ?? passed('no other host is this one');

const ports: PreflightCheck = (input) => {
  const { listens } = input.facts;
  if (listens === undefined) return unknown('the ports in use');
  const taken = Object.entries(PORTS).filter(([port]) => listens.includes(Number(port)));
  if (taken.length === 0) return passed(`${Object.keys(PORTS).join(', ')} are free`);
  const node = adoptedNode(input);
  if (node !== undefined) return passed(`used by Node ${node}`);
  const [first] = taken;
  return fail(
    taken.map(([port, use]) => `${port} (${use}) is in use`).join(', '),
    `stop the program: ss -ltnp sport = :${first?.[0]}`,
  );
};

/** Resolves the name of the API server if it is known by a name; otherwise some name server must be configured. */
const dns: PreflightCheck = ({ facts: { nameservers, apiAddress }, server }) => {
  if (server === undefined || isAddress(server.host)) {
    if (nameservers.length > 0) return passed(nameservers.join(', '));
    return warn('no nameserver in /etc/resolv.conf', 'configure one: images are pulled by names');
  }
  if (apiAddress === undefined) return unknown(`whether ${server.host} resolves`);
  if (apiAddress !== '') return passed(`${server.host} is ${apiAddress}`);
  return fail(`${server.host} does not resolve`, 'add it to the DNS of the host, or to /etc/hosts');
};

const apiServer: PreflightCheck = ({ facts: { apiPort }, server }) => {
  if (server === undefined) {
    return {
      state: 'Unknown',
      found: 'no address of the API server is known',
      hint: 'give it with --server',
    };
  }
  const where = `${server.host}:${server.port}`;
  if (apiPort === undefined) return unknown(`whether ${where} is reachable`);
  if (apiPort === 'open') return passed(`${where} is reachable`);
  return fail(
    `${where} is not reachable`,
    'check the address as the host sees it, routes and firewalls on the way',
  );
};

export const NETWORK_CHECKS: Readonly<Record<string, PreflightCheck>> = {
  HostName: hostName,
  MachineId: machineId,
  DuplicateHost: duplicateHost,
  Ports: ports,
  DNS: dns,
  APIServer: apiServer,
};

/** Tells an IP address from a name, in which there is no colon and not only digits. */
function isAddress(host: string): boolean {
  return host.includes(':') || /^[\d.]+$/.test(host);
}
