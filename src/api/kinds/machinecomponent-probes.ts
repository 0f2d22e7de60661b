/** The probes of a component: what proves that it works. */
import { SOCKET_PATH } from '../patterns.ts';
import { choice, int, name, named, rules, text } from '../schema.ts';
import { command } from './machinecomponent-units.ts';

const portName = name('Name of a port of `ports`.');

const socketPath = text('Absolute path of the socket, such as /run/containerd/containerd.sock.', {
  max: 256,
  pattern: SOCKET_PATH,
});

export const probe = rules(
  named(
    'ComponentProbe',
    'Proves that the component works: exactly one of http, grpc, tcp, socket, exec, unit and nodeCondition.',
    {
      name: name('Name used in messages.'),
      http: named('HttpProbe', 'An HTTP GET that must answer 2xx or 3xx.', {
        port: portName,
        path: text('Path of the request.').default('/'),
        scheme: choice('Scheme of the request.', ['HTTP', 'HTTPS']).default('HTTP'),
      }).optional(),
      grpc: rules(
        named('GrpcProbe', 'The health service of gRPC (grpc.health.v1), which must answer SERVING.', {
          path: socketPath.optional(),
          port: portName.optional(),
          service: text('Name of the service that is asked for. Empty: the server as a whole.', {
            max: 120,
          }).default(''),
        }),
        { rule: 'has(self.path) != has(self.port)', message: 'give exactly one of path and port' },
      ).optional(),
      tcp: named('TcpProbe', 'A port that must accept a connection.', { port: portName }).optional(),
      socket: named('SocketProbe', 'A Unix socket that must accept a connection.', {
        path: socketPath,
      }).optional(),
      exec: named('ExecProbe', 'A command that must exit with code 0.', {
        argv: command('Command and arguments.', [1, 16]),
      }).optional(),
      unit: named('UnitProbe', 'A unit that must be active.', {
        name: name('Name of a unit of `units`.'),
      }).optional(),
      nodeCondition: named('NodeConditionProbe', 'A condition that the Node must have.', {
        type: name('Type of the condition.'),
        status: choice('Required status.', ['True', 'False']),
      }).optional(),
      periodSeconds: int('Seconds between two runs.', [1, 3600]).default(5),
      timeoutSeconds: int('Timeout of one run.', [1, 3600]).default(2),
      successThreshold: int('Consecutive successes after which the probe succeeds.', [1, 100]).default(1),
      failureThreshold: int('Consecutive failures after which the probe fails.', [1, 100]).default(3),
    },
  ),
  {
    rule: '[has(self.http), has(self.grpc), has(self.tcp), has(self.socket), has(self.exec), has(self.unit), has(self.nodeCondition)].exists_one(x, x)',
    message: 'give exactly one of http, grpc, tcp, socket, exec, unit and nodeCondition',
  },
);
