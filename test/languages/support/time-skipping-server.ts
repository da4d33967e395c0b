import { execFileSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { cachedFolder } from '../../../scripts/from-npm';

const VERSION = '1.31.0';
const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>test</groupId><artifactId>time-skipping</artifactId><version>1</version>
<dependencies><dependency><groupId>io.temporal</groupId><artifactId>temporal-test-server</artifactId><version>${VERSION}</version></dependency></dependencies>
</project>
`;

/**
 * The server that `TestWorkflowEnvironment.createTimeSkipping` starts, from Maven Central instead of the SDK's download,
 * as a command. Wants Java and Maven; throws where this machine has neither, or cannot reach the registry.
 */
export function timeSkippingServer(): string {
  const folder = cachedFolder('time-skipping', POM, (fresh) => {
    execFileSync('java', ['-version'], { stdio: 'pipe' });
    writeFileSync(path.join(fresh, 'pom.xml'), POM);
    const goal = ['-q', '-B', 'dependency:copy-dependencies', '-DoutputDirectory=jars'];
    execFileSync('mvn', goal, { cwd: fresh, stdio: 'pipe', timeout: 300_000 });
    const command = path.join(fresh, 'test-server');
    const main = 'io.temporal.testserver.TestServer';
    // Killed as one process when its test ends.
    writeFileSync(command, `#!/bin/sh\nexec java -cp '${path.join(fresh, 'jars')}/*' ${main} "$@"\n`);
    chmodSync(command, 0o755);
  });
  return path.join(folder, 'test-server');
}
