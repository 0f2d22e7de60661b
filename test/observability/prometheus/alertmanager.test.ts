/** The real `amtool` reads the example for Alertmanager. It is in Debian's package prometheus-alertmanager; where it is missing these tests are skipped. */
import { execFileSync, spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { RULE_GROUPS } from '../../../src/observability/prometheus/groups.ts';

const FILE = 'deploy/prometheus/alertmanager.yaml';
const hasAmtool = spawnSync('amtool', ['--version']).status === 0;
if (!hasAmtool) {
  process.stderr.write(
    'amtool is not installed (Debian: prometheus-alertmanager): its example is not tested\n',
  );
}

function amtool(...args: readonly string[]): string {
  return execFileSync('amtool', args, { encoding: 'utf8' });
}

const alerts = Object.values(RULE_GROUPS)
  .flat()
  .flatMap((group) => group.alerts.map(({ alert, severity }) => [alert, severity] as const));

describe.skipIf(!hasAmtool)('the example for Alertmanager', () => {
  it('is a configuration that Alertmanager accepts', () => {
    expect(amtool('check-config', FILE)).toContain('SUCCESS');
  });

  it('calls a person for critical alerts, and writes the others to a chat', () => {
    const severities = [...new Set(alerts.map(([, severity]) => severity))].toSorted();
    expect(severities).toEqual(['critical', 'warning']);
    const routed = severities.map((severity) =>
      amtool('config', 'routes', 'test', `--config.file=${FILE}`, `severity=${severity}`).trim(),
    );
    expect(routed).toEqual(['on-call', 'chat']);
  });
});
