import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatAgentUnit } from '../../src/agent/install/own-unit.ts';
import { putFile, putUnit } from '../support/node-kit/rootfs.ts';
import { type NodeKit, nodeKit, type TestNode, whyNoNodes } from '../support/node-kit.ts';

const reason = whyNoNodes();
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NODE = '/usr/local/bin/node';
/** What the agent does on a host, and what it must not be able to do, one shell command each. */
const ALLOWED = {
  'files of other owners':
    'echo x > /etc/theirs && chown daemon:daemon /etc/theirs && chmod 0600 /etc/theirs && cat /etc/theirs',
  directories: 'mkdir -p /opt/kubenode/a /var/lib/kubenode && ln -sfn /opt/kubenode/a /usr/local/bin/a',
  'old files of /tmp': 'test -e /tmp/old && rm /tmp/old',
  units:
    'printf "[Service]\\nExecStart=/bin/sleep 600\\nUser=daemon\\n[Install]\\nWantedBy=multi-user.target\\n" > /etc/systemd/system/p.service' +
    ' && systemctl daemon-reload && systemctl enable --now p.service && systemctl restart p.service',
  'masks of units': 'systemctl mask --runtime cron-x.service && systemctl unmask --runtime cron-x.service',
  'properties over D-Bus':
    'busctl --json=short get-property org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager Version',
  'transient units': 'systemd-run --wait --pipe --quiet -p TasksMax=8 -p MemoryMax=64M /bin/true',
  'programs of running processes': 'readlink /proc/$(systemctl show -P MainPID p.service)/exe',
  'logs of units': 'journalctl -u p.service -n 1 -o cat',
  'memory and addresses': `${NODE} -e "os.networkInterfaces().lo[0].address + os.freemem()"`,
  'ports of this machine': `${NODE} -e "net.createServer().listen(0, '127.0.0.1', function () { this.close() })"`,
} as const;
/** Each without effect on the machine that runs the node. */
const REFUSED = {
  mounts: 'mount -t tmpfs none /mnt && umount /mnt',
  'kernel settings': 'echo 64 > /proc/sys/net/ipv4/ip_default_ttl',
  'control groups': 'd=/sys/fs/cgroup/pids; [ -d $d ] || d=/sys/fs/cgroup; mkdir $d/x && rmdir $d/x',
  'setuid programs': 'touch /root/program && chmod 4755 /root/program',
  'user namespaces': 'unshare -U true',
  'the host name': 'hostname hardened',
} as const;

describe.skipIf(reason)(`the systemd unit of the agent on a real node${reason ? ` (${reason})` : ''}`, () => {
  let kit: NodeKit;
  let node: TestNode;

  beforeAll(async () => {
    kit = await nodeKit();
    node = await kit.boot({
      name: 'hardened',
      binds: [[process.execPath, NODE]],
      async prepare(root) {
        const unit = formatAgentUnit({ machine: 'n1', node: NODE, program: '/opt/agent.mjs', port: 0 });
        // The limits of the unit around a script instead of the agent.
        await putUnit(root, 'kubenode-agent.service', unit);
        const override = '[Service]\nType=oneshot\nExecStart=\nExecStart=/bin/sh /root/script\nRestart=no\n';
        await putFile(root, 'etc/systemd/system/kubenode-agent.service.d/test.conf', override);
        await putFile(root, 'root/script', 'true\n');
      },
    });
  });
  afterAll(() => kit?.close());

  /** Runs each command under the limits of the unit: the exit code of each. */
  async function runAll(
    commands: Readonly<Record<string, string>>,
  ): Promise<Readonly<Record<string, string>>> {
    const lines = Object.values(commands).map(
      (command, index) => `( ${command} ) > /root/${index}.out 2>&1; echo $? > /root/${index}.code`,
    );
    await putFile(node.root, 'root/script', `${lines.join('\n')}\n`);
    await node.run('systemctl', 'start', 'kubenode-agent.service');
    const results: Record<string, string> = {};
    for (const [index, name] of Object.keys(commands).entries()) {
      const code = (await node.run('cat', `/root/${index}.code`)).stdout.trim();
      const { stdout } = await node.run('cat', `/root/${index}.out`);
      results[name] = code === '0' ? 'works' : `exit code ${code}: ${stdout.trim()}`;
    }
    return results;
  }

  it('permits everything that the agent does on a host', async () => {
    await node.run('touch', '/tmp/old');
    const results = await runAll(ALLOWED);
    expect(results).toEqual(Object.fromEntries(Object.keys(ALLOWED).map((name) => [name, 'works'])));
  });

  it('refuses what the agent never does, and what works without the unit', async () => {
    const results = await runAll(REFUSED);
    expect(Object.entries(results).filter(([, result]) => result === 'works')).toEqual([]);
    for (const command of Object.values(REFUSED)) await node.run('/bin/sh', '-c', command);
  });

  it('lets it reboot the machine through systemd', async () => {
    const before = await node.bootId();
    await putFile(node.root, 'root/script', 'echo true > /root/script; systemctl --no-block reboot\n');
    await node.run('systemctl', 'start', '--no-block', 'kubenode-agent.service');
    await node.bootedAgain(before);
    expect(await node.bootId()).not.toBe(before);
  });
});
