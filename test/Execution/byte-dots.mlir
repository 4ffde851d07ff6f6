// RUN: gpu-runner %s --target=cpu --verify --entry=ss | FileCheck %s
// RUN: gpu-runner %s --target=cpu:generic --verify --entry=ss | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=su | FileCheck %s
// RUN: gpu-runner %s --target=cpu:generic --verify --entry=su | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=us | FileCheck %s
// RUN: gpu-runner %s --target=cpu:generic --verify --entry=us | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=uu | FileCheck %s
// RUN: gpu-runner %s --target=cpu:generic --verify --entry=uu | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=filters | FileCheck %s
// RUN: gpu-runner %s --target=cpu:generic --verify --entry=filters | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=rows | FileCheck %s
// RUN: gpu-runner %s --target=cpu:generic --verify --entry=rows | FileCheck %s
//
// Matmuls of bytes of the CPU's own chip and of one without dot products: all
// signs, with all values of a byte; constant filters with K along their rows,
// which are transposed when the program is loaded; and rhs with K along its
// rows, for a few rows and for many.
//
// CHECK: {{^}}verified{{$}}

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>

func.func private @operands() -> (tensor<37x301xi8>, tensor<301x50xi8>) {
  %ea = tensor.empty() : tensor<37x301xi8>
  %eb = tensor.empty() : tensor<301x50xi8>
  %a = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%ea : tensor<37x301xi8>) {
  ^bb0(%o: i8):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.constant 91 : index
    %0 = arith.muli %i, %c : index
    %1 = arith.addi %0, %j : index
    %2 = arith.muli %1, %1 : index
    %3 = arith.addi %2, %1 : index
    %4 = arith.index_cast %3 : index to i8
    linalg.yield %4 : i8
  } -> tensor<37x301xi8>
  %b = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%eb : tensor<301x50xi8>) {
  ^bb0(%o: i8):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.constant 77 : index
    %0 = arith.muli %i, %c : index
    %1 = arith.addi %0, %j : index
    %2 = arith.index_cast %1 : index to i8
    linalg.yield %2 : i8
  } -> tensor<301x50xi8>
  return %a, %b : tensor<37x301xi8>, tensor<301x50xi8>
}

func.func @ss() -> tensor<37x50xi32> {
  %a, %b = call @operands() : () -> (tensor<37x301xi8>, tensor<301x50xi8>)
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<37x50xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<37x50xi32>) -> tensor<37x50xi32>
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<37x301xi8>, tensor<301x50xi8>) outs(%f : tensor<37x50xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %0 = arith.extsi %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %s, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<37x50xi32>
  return %r : tensor<37x50xi32>
}

func.func @su() -> tensor<37x50xi32> {
  %a, %b = call @operands() : () -> (tensor<37x301xi8>, tensor<301x50xi8>)
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<37x50xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<37x50xi32>) -> tensor<37x50xi32>
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<37x301xi8>, tensor<301x50xi8>) outs(%f : tensor<37x50xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %0 = arith.extsi %x : i8 to i32
    %1 = arith.extui %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %s, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<37x50xi32>
  return %r : tensor<37x50xi32>
}

func.func @us() -> tensor<37x50xi32> {
  %a, %b = call @operands() : () -> (tensor<37x301xi8>, tensor<301x50xi8>)
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<37x50xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<37x50xi32>) -> tensor<37x50xi32>
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<37x301xi8>, tensor<301x50xi8>) outs(%f : tensor<37x50xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %s, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<37x50xi32>
  return %r : tensor<37x50xi32>
}

func.func @uu() -> tensor<37x50xi32> {
  %a, %b = call @operands() : () -> (tensor<37x301xi8>, tensor<301x50xi8>)
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<37x50xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<37x50xi32>) -> tensor<37x50xi32>
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<37x301xi8>, tensor<301x50xi8>) outs(%f : tensor<37x50xi32>) {
  ^bb0(%x: i8, %y: i8, %s: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extui %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %s, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<37x50xi32>
  return %r : tensor<37x50xi32>
}

func.func @filters(%a: tensor<1x9x9x12xi8>) -> tensor<1x8x8x16xi32> {
  %b = arith.constant dense_resource<filters> : tensor<16x2x2x12xi8>
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1x8x8x16xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32>
  %r = linalg.conv_2d_nhwc_fhwc ins(%a, %b : tensor<1x9x9x12xi8>, tensor<16x2x2x12xi8>) outs(%f : tensor<1x8x8x16xi32>) -> tensor<1x8x8x16xi32>
  return %r : tensor<1x8x8x16xi32>
}

func.func @rows(%a: tensor<5x200xi8>, %c: tensor<150x200xi8>, %b: tensor<72x200xi8>) -> (tensor<5x72xi32>, tensor<150x72xi32>) {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<5x72xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<5x72xi32>) -> tensor<5x72xi32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<5x200xi8>, tensor<72x200xi8>) outs(%f : tensor<5x72xi32>) -> tensor<5x72xi32>
  %g = tensor.empty() : tensor<150x72xi32>
  %h = linalg.fill ins(%zero : i32) outs(%g : tensor<150x72xi32>) -> tensor<150x72xi32>
  %s = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%c, %b : tensor<150x200xi8>, tensor<72x200xi8>) outs(%h : tensor<150x72xi32>) -> tensor<150x72xi32>
  return %r, %s : tensor<5x72xi32>, tensor<150x72xi32>
}

{-#
  dialect_resources: {
    builtin: {
      filters: "0x01000000A54DCA182530BB1D6D132CDED6237B2ED91E3F721FCB1971174494D6493C9D5C3460BE31201E69FEDAA0EEE8B9997F5C7C2999FDAFE593253CD654AF4DFAD71427A0AEB3FEE9232F8AF2211F9EE491C5B10BECB5563BFC1E6F93427ECBC8FE2955E5CD8E46DC8ED4B7C2764D2A5A4D767706F85D8690024AD6BDA3401BE9C8CBCCC935F6CD1F61226AE15338AE1A34004D33BA0D246AC04C81B1BAF23E3BF9EEF5F79F2B4934AF87F5520B69B94B0D982E85BB55B672A872637ACD7466FCB60E0E8FF18463B0E4B2BA29703474F064AC68F700F5B02B3DC666F45BDEAA2CCAEDCD2B5157410E4DEE4AF2B34F430A073447DE636C0E806C957BA684D6431FB5EAD7424D09E15D024C5848F23D1FA6F7361D7F618D1532E70E20E2A6668DE7F47E8467E546D53EC8E2A1257BDB256C9B3E4FBB498146EF7030CBF9537252DCCEADD764B6A32FBB09ADEAE109C4A997203975352B878B145C8A42D884CF4CFDA72D8E1D5DD92589082D852A7122873EE805ADD58942167A385286195C679F9C6994E45B8AB1098012070961F37DE436DDFDC99D6E75AF6547CFB11B42072482DC531C2BC3907C9617EB5E5089E40186BAA8A57D119E6FB65D00ABC32AF38E667F022E872D49CC15C90B999B772B4FC7A6FD4C914A16DB4708752B0F1544B835C0E719097DFA8701E9232F21F2812687786976EBFCC327F5931765274BA9829B4406F61FF889326FFA9492EDEEEE3C669F2BF20894EA27E689C66B6B262E4886B8438F39BA76FEF8C90C5101FBE6CF9A48D5B0C0A13DA900A6ADCB3D64069481BE21C9C727B8DB8C188F341A924C7F88DFA161BFDB0ECC682919D2E64692F8194157F1D4AF90988285CF7A9AF7C93D5552266AFE70E7AAE6DA47627C2E59AF2EA37ABC84670AD3C4D36BC08AAD1FFF8EB8406E2F8A7FC4CCE4DD9F0B4110D9F2FA0025C8EFE57F37724F4D37EA2B14004077139B4180DF3932249962C6857200059AEB8EA17CF3787E0ED29D1C0B63FFD7298374D9BD74FC11ADD7B9CA6503952269FD669F6376EE71879737FD5F72F8D51C4AC91B6D0C48D41A1E5EC9E6A0392854"
    }
  }
#-}
