/**
 * docs/guides/try-the-defender.md: asks that are granted, denied and stopped, and a policy that is refused. docs/guides/test-policies.md
 * in the same fleet repository: the test of the page succeeds.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Guide } from './guide.ts';

export const tryTheDefender: Guide = {
  path: 'docs/guides/try-the-defender.md',
  expectations: [
    { at: 'defender status', prints: /fleet-default +Enforce +InForce/ },
    // Denied until the Defender knows the machine, which has just been created.
    { at: 'defender ask sim-1 --action Reboot', prints: /GRANTED[^]*sim-1/ },
    { at: 'defender ask sim-2 --action Reboot', exits: 3, prints: /DENIED[^]*ConcurrencyZone/ },
    { at: 'why node sim-2', prints: /ConcurrencyZone[^]*sim-1 +Reboot Granted/ },
    { at: 'defender ask sim-1 --action Reboot', exits: 3, prints: /KillSwitch[^]*a bad image/ },
    { at: 'defender ask sim-1 --action WipeDisk', exits: 3, prints: /ApprovalPending[^]*node-sre-oncall/ },
    {
      at: 'kubenode plan --repo ../defender-fleet --no-live',
      exits: 1,
      prints: /loose/,
      async before(reader) {
        const { stdout } = await reader.run('realpath ../defender-fleet/rules/index.ts');
        const [policy = ''] = reader.page.blocks('ts');
        insertBehind(stdout.trim(), "  'fleet-default': fleetDefault,\n", policy);
      },
    },
  ],
};

export const testPolicies: Guide = {
  path: 'docs/guides/test-policies.md',
  async before(reader) {
    await reader.run('cd ../defender-fleet && git checkout --quiet . && mkdir -p rules/test/policies');
    const [tests = ''] = reader.page.blocks('ts');
    await reader.run(`cat > rules/test/policies/zone.ts <<'EOF'\n${tests}EOF`);
  },
  expectations: [
    { at: 'kubenode validate rules', prints: /\b2\d policy tests run/ },
    { at: 'kubenode validate rules/test/policies/zone.ts', prints: /\b1 policy test/ },
  ],
};

function insertBehind(file: string, place: string, text: string): void {
  const content = readFileSync(file, 'utf8');
  if (!content.includes(place)) throw new Error(`${file} has no ${place}`);
  writeFileSync(
    file,
    content.replace(place, () => `${place}${text}`),
  );
}
