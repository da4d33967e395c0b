import { stackEnvironment } from '../../packages/cli/src/shared/stack';

const user = {
  MEDIA_BASE_URL: 'https://service.example',
  MEDIA_API_KEY: 'k',
  TEMPORAL_CODEC_ENDPOINT: 'https://codec.example',
  TEMPORAL_CODEC_AUTH: 'a',
  AWS_SECRET_ACCESS_KEY: 'k',
  PGPASSWORD: 'k',
};
const kept = { PATH: '/bin', TEMPORAL_CLI_PATH: '/bin/temporal', TEMPORAL_MEDIA_DEBUG: '1' };
const ofServer = {
  TEMPORAL_ADDRESS: 'production:7233',
  TEMPORAL_API_KEY: 'k',
  https_proxy: 'http://proxy.example',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example',
};

describe('the environment of a local run', () => {
  it('leads to nothing of the user', () => {
    expect(stackEnvironment({ ...kept, ...ofServer, ...user })).toEqual(kept);
  });

  it('of a demo has the server of the user, and neither the service nor the codec server', () => {
    expect(stackEnvironment({ ...kept, ...ofServer, ...user }, true)).toEqual({ ...kept, ...ofServer });
  });
});
