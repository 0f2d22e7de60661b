import { type ComponentRelease, componentReleases, type MachineComponentSpec } from 'kubenode/constructs';

const PROGRAM = '/usr/local/bin/node_exporter';

export const nodeExporterReleases = componentReleases({
  component: 'node-exporter',
  url: 'https://github.com/prometheus/node_exporter/releases/download/v{version}/node_exporter-{version}.linux-{arch}.tar.gz',
  format: 'TarGz',
  install: [{ from: 'node_exporter-{version}.linux-{arch}/node_exporter', to: PROGRAM }],
  versions: {
    '1.9.1': {
      amd64: 'becb950ee80daa8ae7331d77966d94a611af79ad0d3307380907e0ec08f5b4e8',
      arm64: '848f139986f63232ced83babe3cad1679efdbb26c694737edc1f4fbd27b96203',
    },
    '1.8.2': {
      amd64: '6809dd0b3ec45fd6e992c19071d6b5253aed3ead7bf0686885a51d85c6643c66',
      arm64: '627382b9723c642411c33f48861134ebe893e70a63bcc8b3fc0619cd0bfac4be',
    },
  },
});

export function nodeExporter({ component, version, artifacts }: ComponentRelease): MachineComponentSpec {
  return {
    component,
    version,
    description: 'Metrics of the machine, for Prometheus',
    parameters: [{ name: 'logLevel', default: 'info' }],
    ports: [{ name: 'metrics', port: 9100 }],
    artifacts,
    units: [
      {
        name: 'node-exporter',
        exec: {
          argv: [PROGRAM, '--web.listen-address=:${port.metrics}', '--log.level=${param.logLevel}'],
          user: 'nobody',
        },
      },
    ],
    probes: [{ name: 'metrics', http: { port: 'metrics', path: '/metrics' } }],
    commitAfterSeconds: 30,
  };
}
