import { type ComponentRelease, componentReleases, type MachineComponentSpec } from 'kubenode/constructs';

export const nodeExporterReleases = componentReleases({
  component: 'node-exporter',
  url: 'https://artifacts.example.com/node-exporter/{version}/linux-{arch}',
  versions: {
    '1.8.2': {
      amd64: '6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b',
      arm64: 'd4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35',
    },
    '1.8.1': {
      amd64: '4e07408562bedb8b60ce05c1decfe3ad16b72230967de01f640b7e4729b49fce',
      arm64: '4a44dc15364204a80fe80e9039455cc1608281820fe2b24f1e5233ade6af1dd5',
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
          argv: [
            '${dir}/node-exporter',
            '--web.listen-address=:${port.metrics}',
            '--log.level=${param.logLevel}',
          ],
          user: 'nobody',
        },
      },
    ],
    probes: [{ name: 'metrics', http: { port: 'metrics', path: '/metrics' } }],
    commitAfterSeconds: 30,
  };
}
